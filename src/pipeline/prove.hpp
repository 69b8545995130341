// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/pools.hpp"
#include "berth/solver/pack.hpp"

namespace berth::pipeline {

/// Prices rounded to the certificate's fixed point.
model::Certificate from_pools(const model::Pools& pools, std::span<const double> prices);
model::Certificate from_shapes(std::span<const solver::ShapePrice> prices);

struct Proof {
  model::Certificate certificate;
  double upper_bound = 0.0;
};

/// The certificate with the lowest bound (the first among equals), as the judge computes it.
/// @pre candidates is not empty
Proof tightest(const model::Instance& instance, model::Objective objective,
               std::vector<model::Certificate> candidates);

}  // namespace berth::pipeline
