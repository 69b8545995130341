// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/horizon/plan.hpp"
#include "berth/horizon/problem.hpp"

namespace berth::solver::horizon_plan {

/// Appends a range of one table to another; returns its place there.
template <class T>
berth::horizon::IndexRange append_rows(const std::vector<T>& from, berth::horizon::IndexRange range,
                                       std::vector<T>& to) {
  const auto begin = static_cast<std::int32_t>(to.size());
  const auto items = range.of(from);
  to.insert(to.end(), items.begin(), items.end());
  return {begin, static_cast<std::int32_t>(to.size())};
}

/// A start with these shares, which are copied to the end of the plan's.
inline berth::horizon::JobStart with_shares(berth::horizon::JobStart start,
                                            std::span<const berth::horizon::TaskShare> shares,
                                            berth::horizon::Plan& plan) {
  start.shares.begin = static_cast<std::int32_t>(plan.shares.size());
  plan.shares.insert(plan.shares.end(), shares.begin(), shares.end());
  start.shares.end = static_cast<std::int32_t>(plan.shares.size());
  return start;
}

}  // namespace berth::solver::horizon_plan
