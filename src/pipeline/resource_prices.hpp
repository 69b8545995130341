// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prove.hpp"

#include "berth/base/stop.hpp"

namespace berth::pipeline {

/// True when some task needs an optional resource (model::ResourceRow) that some class limits.
bool resources_matter(const model::InstanceView& instance);

/// The proof with prices of optional resources, if these lower its bound; otherwise the proof
/// unchanged. For each resource and class in turn it sets a price that tasks pay, equal in all
/// pools of the class, and a multiplier within the bound of one machine. The unrounded bound is
/// convex in each, so doubling brackets the best price and a golden section search (Kiefer 1953)
/// narrows it: about 40 evaluations of the judge for each.
Proof price_resources(const model::InstanceView& instance, model::Objective objective, Proof proof,
                      const StopToken& stop);

}  // namespace berth::pipeline
