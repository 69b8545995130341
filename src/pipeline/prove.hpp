// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "distributed_judge.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"
#include "berth/planner_model/limit_groups.hpp"
#include "berth/planner_model/pools.hpp"
#include "berth/solver/pack.hpp"

namespace berth::pipeline {

/// A price in units of 2^-scale_log2, cut to 2^60 of them either way.
std::int64_t to_signed_fixed(double price, std::int32_t scale_log2);
/// The same, 0 when negative.
std::int64_t to_fixed(double price, std::int32_t scale_log2);

/// Prices rounded to the certificate's fixed point.
/// @param largest  the scale leaves room for amounts like this one too
model::Certificate from_pools(const planner_model::Pools& pools, std::span<const double> prices,
                              double largest = 0.0);
model::Certificate from_shapes(std::span<const solver::TaskPrice> prices);

/// Adds some of the prices of limits, in the numbering of `groups`. @pre the certificate's scale is
/// known
/// @param prices  per GPU of each quota, then per unit of each group
void add_limit_prices(model::Certificate& certificate, const planner_model::LimitGroups& groups,
                      std::span<const double> prices, std::size_t first, std::size_t last);

struct Proof {
  model::Certificate certificate;
  double upper_bound = 0.0;
};

/// The certificate with the lowest bound (the first among equals), as the judge computes it.
/// @pre candidates is not empty
Proof tightest(const model::Instance& instance, model::Objective objective,
               std::vector<model::Certificate> candidates);
/// The same of rank 0's candidates by all ranks together; elsewhere without prices. Collective.
Proof tightest(const DistributedJudge& judge, std::vector<model::Certificate> candidates);

}  // namespace berth::pipeline
