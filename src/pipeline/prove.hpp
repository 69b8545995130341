// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "distributed_judge.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"
#include "berth/planner_model/limit_groups.hpp"
#include "berth/planner_model/pools.hpp"
#include "berth/solver/configuration_lp.hpp"
#include "berth/solver/pack.hpp"

namespace berth::pipeline {

/// A price in units of 2^-scale_log2, clamped to +-2^60 units.
std::int64_t to_signed_fixed(double price, std::int32_t scale_log2);
/// A price in units of 2^-scale_log2, clamped to 0 .. 2^60 units.
std::int64_t to_fixed(double price, std::int32_t scale_log2);
/// A sum or product of prices, clamped to 0 .. 2^60 units.
std::int64_t as_price(Int128 amount);

/// Certificate of prices of pools, rounded to its fixed point.
/// @param prices   by PoolId, value per GPU
/// @param largest  the scale also admits prices of this size
model::Certificate from_pools(const planner_model::Pools& pools, std::span<const double> prices,
                              double largest = 0.0);
/// The certificate without a search over placements, which no price changes: for evaluations at
/// many prices.
model::Certificate without_search(model::Certificate certificate);
/// Certificate of prices of tasks by shape and GPU type.
model::Certificate from_shapes(std::span<const solver::TaskPrice> prices);

/// Adds the multipliers of resources within the bound of one machine. @pre the scale is set
void add_multipliers(model::Certificate& certificate,
                     std::span<const solver::ResourceMultiplier> multipliers);

/// Adds the prices [first, last) of limits. @pre the certificate's scale is set
/// @param prices  as LimitGroups::prices: per GPU of each quota, then per unit of each group
void add_limit_prices(model::Certificate& certificate, const planner_model::LimitGroups& groups,
                      std::span<const double> prices, std::size_t first, std::size_t last);

struct Proof {
  model::Certificate certificate;
  double upper_bound = 0.0;
};

/// The certificate with the lowest bound as the judge computes it; ties: the first one.
/// @pre candidates is not empty
Proof tightest(const model::InstanceView& instance, model::Objective objective,
               std::vector<model::Certificate> candidates);
/// The certificate of rank 0's candidates with the lowest bound, computed by all ranks; ranks other
/// than 0 get the bound without prices. Collective.
Proof tightest(const DistributedJudge& judge, std::vector<model::Certificate> candidates);

}  // namespace berth::pipeline
