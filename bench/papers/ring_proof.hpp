// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ring_world.hpp"

#include <cstdint>

namespace berth::bench {

/// What the judge (certify::prove_makespan) says of the instance: slots of every schedule, at
/// least.
std::int64_t proved_makespan(const RingWorld& world);

}  // namespace berth::bench
