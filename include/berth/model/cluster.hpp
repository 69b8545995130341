// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "berth/base/name_table.hpp"
#include "berth/base/strong_id.hpp"

namespace berth::model {

inline constexpr int kMaxGpuTypes = 64;          ///< a set of GPU types is one 64-bit mask
inline constexpr int kMaxGpusPerMachine = 64;    ///< a set of devices is one 64-bit mask
inline constexpr std::int64_t kGpuMilli = 1000;  ///< thousandths in one GPU

/// Machines that are alike. CPU-only machines have gpus = 0 and an invalid gpu_type.
struct MachineClass {
  std::string name;
  GpuTypeId gpu_type;
  std::int32_t gpus = 0;       ///< devices, 0 .. kMaxGpusPerMachine
  std::int64_t cpu_milli = 0;  ///< thousandths of a core
  std::int64_t memory_mib = 0;
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

struct Queue {
  std::string name;
  std::int64_t gpu_quota = -1;  ///< GPUs; -1 = none
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

  [[nodiscard]] std::size_t machines() const { return machine_class.size(); }
  [[nodiscard]] const MachineClass& class_of(MachineId machine) const {
    return classes[machine_class[machine.index()].index()];
  }
  [[nodiscard]] PodId pod_of(MachineId machine) const {
    return racks[machine_rack[machine.index()].index()].pod;
  }
  [[nodiscard]] std::int64_t gpus() const;  ///< devices in the whole cluster, O(machines)
};

}  // namespace berth::model
