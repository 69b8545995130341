// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/room.hpp"

namespace berth::test {

/// Machines and racks in ascending order of free GPUs, so that best fit starts at the tightest fit.
/// Kinds are the GPU types, then one more for CPU-only machines.
class FreeIndex {
 public:
  struct MachineKey {
    std::int64_t milli;
    std::int64_t cpu;
    MachineId id;
    auto operator<=>(const MachineKey&) const = default;
  };
  struct RackKey {
    std::int64_t milli;
    RackId id;
    auto operator<=>(const RackKey&) const = default;
  };

  FreeIndex(const model::Cluster& cluster, const planner_model::Room& room);

  [[nodiscard]] std::size_t kinds() const { return kinds_; }

  /// Machines of a kind, in the whole cluster, a pod or a rack, with at least `milli` free, fullest
  /// first.
  [[nodiscard]] std::vector<MachineId> in_cluster(std::size_t kind, std::int64_t milli) const;
  [[nodiscard]] std::vector<MachineId> in_pod(PodId pod, std::size_t kind,
                                              std::int64_t milli) const;
  [[nodiscard]] std::vector<MachineId> in_rack(RackId rack, std::size_t kind,
                                               std::int64_t milli) const;

  [[nodiscard]] const std::set<MachineKey>& machines(std::size_t kind) const { return all_[kind]; }
  [[nodiscard]] const std::set<MachineKey>& machines(PodId pod, std::size_t kind) const {
    return pods_[pod.index() * kinds_ + kind];
  }
  [[nodiscard]] const std::set<RackKey>& racks(std::size_t kind) const { return racks_[kind]; }
  [[nodiscard]] std::int64_t free_in(RackId rack, std::size_t kind) const {
    return rack_free_[rack.index() * kinds_ + kind];
  }
  [[nodiscard]] std::int64_t free_in(PodId pod, std::size_t kind) const {
    return pod_free_[pod.index() * kinds_ + kind];
  }

  /// Updates the index; call after every edit of `room`.
  void update(const model::JobPlacement& placed, const planner_model::Room& room);

 private:
  void move(MachineId machine, const MachineKey& now);

  const model::Cluster& cluster_;
  std::size_t kinds_;
  std::vector<MachineKey> key_;             // by MachineId
  std::vector<std::set<MachineKey>> all_;   // by kind
  std::vector<std::set<MachineKey>> pods_;  // by pod, kind
  std::vector<std::set<RackKey>> racks_;    // by kind
  std::vector<std::int64_t> rack_free_;     // by rack, kind
  std::vector<std::int64_t> pod_free_;      // by pod, kind
  std::vector<std::size_t> first_in_rack_;
};

/// Kind of a machine: its GPU type, or the one after the last.
std::size_t kind_of(const model::Cluster& cluster, MachineId machine);

}  // namespace berth::test
