// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ones_world.hpp"

namespace berth::bench {

/// What the judge (certify::prove_total_flow) says of the world: mean seconds from arrival to end
/// that every schedule has at least.
double proved_mean(const OnesWorld& world);

}  // namespace berth::bench
