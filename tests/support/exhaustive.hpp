// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"

namespace berth::test {

struct Optimum {
  double value = 0.0;
  model::Placement placement;
};

/// The jobs that must be placed; pinned jobs are placed anyway.
struct Required {
  std::vector<bool> by_job;  ///< by JobId
  std::vector<JobId> jobs;   ///< ascending
};
Required required_of(const model::Workload& workload);

/// The best plan that places at least `required`, by enumeration: every task on every machine and
/// every different device. Empty when there is none, or after `limit` steps. Shares no code with
/// the planner.
std::optional<Optimum> best_plan(const model::Instance& instance, model::Objective objective,
                                 const std::vector<bool>& required, std::int64_t limit);

}  // namespace berth::test
