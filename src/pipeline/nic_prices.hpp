// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prove.hpp"

#include "berth/base/stop.hpp"

namespace berth::pipeline {

/// Some job asks for a NIC that has a limit.
bool nics_matter(const model::Instance& instance);

/// The proof with prices of NICs that lower its bound, where some do: for each class in turn one
/// that tasks pay, the same in all its pools, and one that machines charge beside it. The bound
/// before it is rounded is convex in each, so doubling brackets the best and a golden section
/// narrows it down: at most about 40 evaluations of the judge for each. None where NICs do not
/// matter.
Proof price_nics(const model::Instance& instance, model::Objective objective, Proof proof,
                 const StopToken& stop);

}  // namespace berth::pipeline
