// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/base/name_table.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/resources.hpp"

namespace berth::model {

inline constexpr int kMaxGpuTypes = 64;          ///< types; a set of them is one 64-bit mask
inline constexpr int kMaxGpusPerMachine = 64;    ///< devices; a set of them is one 64-bit mask
inline constexpr std::int64_t kGpuMilli = 1000;  ///< thousandths in one GPU: unit of the formats
inline constexpr int kMaxGpuSlices = 31;         ///< largest number for which share_taken is exact

/// GPU thousandths that a share takes of a device cut into `slices` slices (0: not cut): k slices
/// have floor(1000 k / slices) thousandths, and k is the least number that covers the share. Shares
/// fit a device by thousandths exactly if they fit by slices: one slice too many exceeds the device
/// by at least 1000 / slices thousandths, and up to kMaxGpuSlices all roundings together are less.
constexpr std::int32_t share_taken(std::int32_t milli, std::int32_t slices) {
  if (slices == 0) return milli;
  return 1000 * ((milli * slices + 999) / 1000) / slices;
}

/// Machines of equal equipment. CPU-only machines have gpus = 0 and an invalid gpu_type.
struct MachineClass {
  std::string name;
  GpuTypeId gpu_type;
  std::int32_t gpus = 0;  ///< devices, 0 .. kMaxGpusPerMachine
  Resources capacity = machine_capacity({});
  std::int32_t gpu_slices = 0;  ///< slices of each device, 0 .. kMaxGpuSlices; 0: any share fits
};

template <class Archive>
void describe(Archive& archive, MachineClass& c) {
  archive(c.name, c.gpu_type, c.gpus, c.capacity, c.gpu_slices);
}

struct Pod {
  std::string name;
  double uplink_gbps = std::numeric_limits<double>::infinity();
  double power_w = std::numeric_limits<double>::infinity();  ///< that tasks inside may draw
};

struct Rack {
  std::string name;  ///< unique in the cluster
  PodId pod;
  double uplink_gbps = std::numeric_limits<double>::infinity();
  double power_w = std::numeric_limits<double>::infinity();  ///< that tasks inside may draw
};

/// A queue of jobs with a quota of GPUs. GPUs of a queue's jobs count for its ancestors too.
struct Queue {
  std::string name;
  std::int64_t gpu_quota = -1;  ///< GPUs; -1 = none
  QueueId parent = {};          ///< an earlier queue, or invalid
  /// Value lost per GPU over the quota; infinite: a hard quota, never exceeded. An objective
  /// without costs ignores soft quotas.
  double over_quota_penalty = std::numeric_limits<double>::infinity();
  /// Most GPU-hours that jobs of the queue and its children take in the horizon; -1 = no budget
  std::int64_t gpu_hours = -1;

  [[nodiscard]] bool hard() const {
    return gpu_quota >= 0 && over_quota_penalty == std::numeric_limits<double>::infinity();
  }
};

template <class Archive>
void describe(Archive& archive, Queue& queue) {
  archive(queue.name, queue.gpu_quota, queue.parent, queue.over_quota_penalty, queue.gpu_hours);
}

/// GPUs of one type that a pod keeps free of jobs: a soft limit.
struct Spare {
  PodId pod;
  GpuTypeId gpu_type;
  std::int64_t gpus = 0;  ///< > 0
  double penalty = 0.0;   ///< value lost per GPU of these that jobs use, >= 0 and finite

  /// By pod, then type.
  static auto key(const Spare& spare) { return std::pair(spare.pod, spare.gpu_type); }
};

template <class Archive>
void describe(Archive& archive, Spare& spare) {
  archive(spare.pod, spare.gpu_type, spare.gpus, spare.penalty);
}

/// Licenses of one kind for the whole cluster: a hard limit. A placed job takes a number of them,
/// wherever its tasks are.
struct License {
  std::string name;
  std::int64_t count = 0;  ///< >= 0
};

template <class Archive>
void describe(Archive& archive, License& license) {
  archive(license.name, license.count);
}

enum class MachineState : std::uint8_t {
  up,
  drained,   ///< being shut down: no new task starts here, running jobs end here
  reserved,  ///< reserved for use outside the workload: no new task starts here
  drain,     ///< being evacuated: no new task starts here, running jobs that may move leave
};

/// When the last task must have left a machine in state `drain`.
struct DrainDeadline {
  MachineId machine;
  std::int64_t deadline = 0;  ///< seconds
};

/// Machines first .. end - 1.
struct MachineRange {
  std::int32_t first = 0;
  std::int32_t end = 0;

  bool operator==(const MachineRange&) const = default;
};

enum class WindowKind : std::uint8_t {
  maintenance,  ///< no task is on the machines
  reservation,  ///< only tasks of the named jobs and queues are on the machines
};

/// Machines closed to jobs in [from, to). Windows may overlap: a task must be allowed by all.
struct Window {
  std::vector<MachineRange> machines;  ///< ascending, disjoint, not adjacent; not empty
  std::int64_t from = 0;               ///< seconds
  std::int64_t to = 0;                 ///< seconds, > from
  WindowKind kind = WindowKind::maintenance;
  std::vector<QueueId> queues = {};    ///< reserved for jobs of these and their children; ascending
  std::vector<std::string> jobs = {};  ///< reserved for these, by name; ascending, distinct
  std::vector<JobId> job_ids = {};     ///< those of `jobs` that the jobs file has; ascending
};

template <class Archive>
void describe(Archive& archive, Window& w) {
  archive(w.machines, w.from, w.to, w.kind, w.queues, w.jobs, w.job_ids);
}

/// Content of a machine that no plan moves: tasks of a pinned job, or content outside the workload.
/// A machine may have several.
struct Immovable {
  MachineId machine;
  std::uint64_t devices = 0;  ///< bit i = device i
  std::int32_t milli = 0;     ///< taken of each device, 1..1000; share_taken rounds it
  Resources taken = {};
  JobId job = {};  ///< the pinned job; invalid: not a job of the workload
};

/// Pods > racks > machines > GPUs. Machines are numbered rack by rack, racks pod by pod, in file
/// order, so that a pod, a rack and a shard are each one contiguous range of machines.
struct Cluster {
  std::vector<std::string> gpu_types;  ///< by GpuTypeId; also types that only jobs name
  std::vector<MachineClass> classes;   ///< by ClassId
  std::vector<Pod> pods;               ///< by PodId
  std::vector<Rack> racks;             ///< by RackId, ascending pod
  std::vector<Queue> queues;           ///< by QueueId
  std::vector<Spare> spare;            ///< ascending Spare::key, distinct

  NameTable machine_names;             ///< by MachineId
  std::vector<ClassId> machine_class;  ///< by MachineId
  std::vector<RackId> machine_rack;    ///< by MachineId, ascending

  std::vector<MachineState> machine_state;          ///< by MachineId; empty: all up
  std::vector<Immovable> immovable;                 ///< ascending machine
  std::vector<DrainDeadline> drain_deadlines = {};  ///< ascending machine
  std::vector<Window> windows = {};                 ///< in file order
  std::vector<License> licenses = {};               ///< ascending name, distinct

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
  /// Immovable content of this machine. O(log immovable).
  [[nodiscard]] std::span<const Immovable> immovable_on(MachineId machine) const;
  /// The pod's spare GPUs of the type, or null. O(log spare)
  [[nodiscard]] const Spare* spare_of(PodId pod, GpuTypeId type) const;
  [[nodiscard]] std::int64_t gpus() const;  ///< devices in the whole cluster, O(machines)
};

template <class Archive>
void describe(Archive& archive, Cluster& c) {
  archive(c.gpu_types, c.classes, c.pods, c.racks, c.queues, c.spare, c.machine_names);
  archive(c.machine_class, c.machine_rack, c.machine_state, c.immovable);
  archive(c.drain_deadlines, c.windows, c.licenses);
}

}  // namespace berth::model
