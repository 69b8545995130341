// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "berth/base/name_table.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/resources.hpp"

namespace berth::model {

inline constexpr int kMaxGpuTypes = 64;          ///< a set of GPU types is one 64-bit mask
inline constexpr int kMaxGpusPerMachine = 64;    ///< a set of devices is one 64-bit mask
inline constexpr std::int64_t kGpuMilli = 1000;  ///< thousandths in one GPU
inline constexpr int kMaxGpuSlices = 31;         ///< the most for which share_taken is exact

/// GPU thousandths that a share takes of a device cut into so many slices (0: not cut): those of
/// the fewest whole slices that cover it, k of them being floor(1000 k / slices). Shares fit a
/// device by thousandths exactly when they fit by slices: one slice too many is more than 1000 /
/// slices thousandths too many, and up to kMaxGpuSlices all roundings together are less.
constexpr std::int32_t share_taken(std::int32_t milli, std::int32_t slices) {
  if (slices == 0) return milli;
  return 1000 * ((milli * slices + 999) / 1000) / slices;
}

/// Machines that are alike. CPU-only machines have gpus = 0 and an invalid gpu_type.
struct MachineClass {
  std::string name;
  GpuTypeId gpu_type;
  std::int32_t gpus = 0;  ///< devices, 0 .. kMaxGpusPerMachine
  Resources capacity = machine_capacity({});
  std::int32_t gpu_slices = 0;  ///< every device is cut into so many; 0: shares of any size
};

struct Pod {
  std::string name;
  double uplink_gbps = std::numeric_limits<double>::infinity();
};

struct Rack {
  std::string name;  ///< unique in the cluster
  PodId pod;
  double uplink_gbps = std::numeric_limits<double>::infinity();
};

/// A share of the cluster's GPUs. What a queue's jobs take counts for its ancestors too.
struct Queue {
  std::string name;
  std::int64_t gpu_quota = -1;  ///< GPUs; -1 = none
  QueueId parent = {};          ///< an earlier queue, or invalid
  /// Value lost per GPU over the quota; infinite: the quota may not be passed. Where
  /// the objective does not count costs, a soft quota is none.
  double over_quota_penalty = std::numeric_limits<double>::infinity();

  [[nodiscard]] bool hard() const {
    return gpu_quota >= 0 && over_quota_penalty == std::numeric_limits<double>::infinity();
  }
};

enum class MachineState : std::uint8_t {
  up,
  drained,   ///< goes down: nothing new starts here
  reserved,  ///< kept for somebody else: nothing new starts here
};

/// Part of a machine that no plan moves: a job that is pinned there, or something that is none of
/// ours. A machine may have several.
struct Immovable {
  MachineId machine;
  std::uint64_t devices = 0;  ///< bit i = device i
  std::int32_t milli = 0;     ///< of each of the devices, 1..1000; share_taken rounds it
  Resources taken = {};
  JobId job = {};  ///< the pinned job; invalid: not a job of the workload
};

/// Pods > racks > machines > GPUs. Machines are numbered rack by rack, racks pod by pod, in file
/// order, so that a pod, a rack and a shard are each one contiguous range of machines.
struct Cluster {
  std::vector<std::string> gpu_types;  ///< by GpuTypeId; also types only jobs ask for
  std::vector<MachineClass> classes;   ///< by ClassId
  std::vector<Pod> pods;               ///< by PodId
  std::vector<Rack> racks;             ///< by RackId, ascending pod
  std::vector<Queue> queues;           ///< by QueueId

  NameTable machine_names;             ///< by MachineId
  std::vector<ClassId> machine_class;  ///< by MachineId
  std::vector<RackId> machine_rack;    ///< by MachineId, ascending

  std::vector<MachineState> machine_state;  ///< by MachineId; empty: all up
  std::vector<Immovable> immovable;         ///< ascending machine

  [[nodiscard]] std::size_t machines() const { return machine_class.size(); }
  [[nodiscard]] const MachineClass& class_of(MachineId machine) const {
    return classes[machine_class[machine.index()].index()];
  }
  [[nodiscard]] PodId pod_of(MachineId machine) const {
    return racks[machine_rack[machine.index()].index()].pod;
  }
  [[nodiscard]] MachineState state_of(MachineId machine) const {
    return machine_state.empty() ? MachineState::up : machine_state[machine.index()];
  }
  /// What no plan moves on this machine. O(log immovable).
  [[nodiscard]] std::span<const Immovable> immovable_on(MachineId machine) const;
  [[nodiscard]] std::int64_t gpus() const;  ///< devices in the whole cluster, O(machines)
};

}  // namespace berth::model
