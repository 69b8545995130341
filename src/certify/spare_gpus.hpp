// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/placement.hpp"

namespace berth::certify {

/// By row of Cluster::spare: GPU thousandths of the pod's machines that are up, less immovable
/// content and the spare GPUs, at least 0: what jobs may use before they use spare GPUs.
/// O(machines) with spare GPUs.
std::vector<std::int64_t> rooms_beside_spare(const model::Cluster& cluster);

/// GPU thousandths that a task takes of the GPUs of one row of Cluster::spare.
struct SpareUse {
  std::size_t row = 0;
  std::int64_t milli = 0;
};
/// Empty for tasks without GPUs and where the pod has no spare GPUs of the type.
std::optional<SpareUse> use_beside_spare(const model::Cluster& cluster,
                                         const model::TaskPlacement& task);

/// By row: GPU thousandths that the placed jobs take.
std::vector<std::int64_t> usage_beside_spare(const model::Cluster& cluster,
                                             const model::Placement& placement);

/// Value lost by use of spare GPUs, rounded up. @param used  as of `usage_beside_spare`
Int128 spare_penalty(const model::Cluster& cluster, std::span<const std::int64_t> used,
                     int scale_log2);

}  // namespace berth::certify
