// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/model/placement.hpp"

namespace berth::coordinator {

/// Placements as a flat stream of integers, for messages: per job {job, start, tasks}, per task
/// {machine, group, devices, milli}.
std::vector<std::int64_t> pack_placement(const model::Placement& placement);
model::Placement unpack_placement(std::span<const std::int64_t> stream);

}  // namespace berth::coordinator
