// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prove.hpp"

#include "berth/base/stop.hpp"

namespace berth::pipeline {

/// Some task asks for an optional resource (model::ResourceRow) of which some class has a limit.
bool resources_matter(const model::Instance& instance);

/// The proof with prices of optional resources that lower its bound, where some do: for each
/// resource and class in turn one that tasks pay, the same in all its pools, and one that machines
/// charge beside it. The bound before it is rounded is convex in each, so doubling brackets the
/// best and a golden section narrows it down: at most about 40 evaluations of the judge for each.
/// The proof as it is where no optional resource matters.
Proof price_resources(const model::Instance& instance, model::Objective objective, Proof proof,
                      const StopToken& stop);

}  // namespace berth::pipeline
