// SPDX-License-Identifier: Apache-2.0
#include "spare_gpus.hpp"

#include "exact.hpp"
#include "machine_variants.hpp"

#include <algorithm>
#include <bit>

namespace berth::certify {
namespace {

const model::Spare* spare_at(const model::Cluster& cluster, MachineId machine) {
  return cluster.spare_of(cluster.pod_of(machine), cluster.class_of(machine).gpu_type);
}

std::size_t row_of(const model::Cluster& cluster, const model::Spare* spare) {
  return static_cast<std::size_t>(spare - cluster.spare.data());
}

std::int64_t milli_taken(const model::Cluster& cluster, MachineId machine, std::uint64_t devices,
                         std::int32_t milli) {
  return std::popcount(devices) * in_slices(milli, cluster.class_of(machine).gpu_slices);
}

}  // namespace

std::vector<std::int64_t> rooms_beside_spare(const model::Cluster& cluster) {
  std::vector<std::int64_t> room;
  if (cluster.spare.empty()) return room;
  for (const model::Spare& spare : cluster.spare) room.push_back(-model::kGpuMilli * spare.gpus);
  const auto add = [&](MachineId machine, std::int64_t milli) {
    const model::Spare* spare = spare_at(cluster, machine);
    const bool up = cluster.state_of(machine) == model::MachineState::up;
    if (up && spare != nullptr) room[row_of(cluster, spare)] += milli;
  };
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    add(MachineId(m), model::kGpuMilli * cluster.class_of(MachineId(m)).gpus);
  }
  for (const model::Immovable& content : cluster.immovable) {
    add(content.machine, -milli_taken(cluster, content.machine, content.devices, content.milli));
  }
  for (std::int64_t& milli : room) milli = std::max<std::int64_t>(0, milli);
  return room;
}

std::optional<SpareUse> use_beside_spare(const model::Cluster& cluster,
                                         const model::TaskPlacement& task) {
  if (cluster.spare.empty() || task.devices == 0) return std::nullopt;
  const model::Spare* spare = spare_at(cluster, task.machine);
  if (spare == nullptr) return std::nullopt;
  return SpareUse{row_of(cluster, spare),
                  milli_taken(cluster, task.machine, task.devices, task.milli)};
}

std::vector<std::int64_t> usage_beside_spare(const model::Cluster& cluster,
                                             const model::Placement& placement) {
  std::vector<std::int64_t> used(cluster.spare.size(), 0);
  if (used.empty()) return used;
  for (const model::JobPlacement& placed : placement) {
    for (const model::TaskPlacement& task : placed.tasks) {
      if (const auto use = use_beside_spare(cluster, task)) used[use->row] += use->milli;
    }
  }
  return used;
}

Int128 spare_penalty(const model::Cluster& cluster, std::span<const std::int64_t> used,
                     int scale_log2) {
  const std::vector<std::int64_t> room = rooms_beside_spare(cluster);
  Int128 total = 0;
  for (std::size_t s = 0; s < used.size(); ++s) {
    if (used[s] <= room[s]) continue;
    total += times_over_up(fixed_up(cluster.spare[s].penalty, scale_log2), used[s] - room[s],
                           model::kGpuMilli);
  }
  return total;
}

}  // namespace berth::certify
