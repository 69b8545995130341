// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "berth/base/strong_id.hpp"
#include "berth/model/resources.hpp"
#include "berth/model/time_rules.hpp"

namespace berth::model {

/// Level of a domain: the width of a job (narrowest domain that holds all its tasks) or its
/// distance from home. A wider level compares greater.
enum class Level : std::uint8_t { machine, rack, pod, cluster };
inline constexpr int kLevels = 4;  ///< number of levels
/// What one task takes from one machine. Exactly one of `gpus` and `gpu_milli` may be positive.
struct Shape {
  Resources needs = {};
  std::int32_t gpus = 0;       ///< whole devices
  std::int32_t gpu_milli = 0;  ///< share of one device, 1..999; 0 = no share

  /// GPU thousandths that the task requests; on GPUs cut into slices it may take more.
  [[nodiscard]] std::int64_t total_milli() const { return std::int64_t{1000} * gpus + gpu_milli; }
  [[nodiscard]] bool uses_gpu() const { return gpus > 0 || gpu_milli > 0; }
  auto operator<=>(const Shape&) const = default;
};

/// `count` equal tasks of a job.
struct TaskGroup {
  ShapeId shape;
  std::int32_t count = 1;
  std::uint32_t label = 0;  ///< name of the group in the job file ("worker"), index into `labels`
  /// The job advances when any so many of the tasks have (coded work); 0: all. It holds all of
  /// them.
  std::int32_t k_of = 0;
};

/// Value factors by Level, each in [0, 1], not increasing with the level. In factors of the
/// distance from home entry `machine` equals entry `rack`, because the home rack is the least
/// distance.
using Factors = std::array<double, kLevels>;

/// Pairs of tasks that communicate while the job runs.
enum class CommunicationPattern : std::uint8_t {
  none,
  ring,  ///< ring all-reduce over all tasks
  ps,    ///< every worker with every parameter server
};

/// Traffic between the tasks of a job. It loads the uplinks of the racks and pods that it crosses.
/// A placement that an uplink cannot carry is not allowed.
struct Communication {
  CommunicationPattern pattern = CommunicationPattern::none;
  std::uint32_t servers = 0;  ///< ps: index of the task group of the servers
  /// Mbit/s each way. ring: load of the uplink of every rack (pod) with tasks of the job, if there
  /// are several; ps: rate that one worker sends and receives, divided evenly among the servers.
  std::int64_t mbps = 0;
};

/// One training job. All GPU tasks run on one GPU type; all tasks are placed or none is (gang).
struct Job {
  std::uint32_t first_group = 0;  ///< groups [first_group, first_group + groups) of the workload
  std::uint32_t groups = 0;
  std::uint64_t gpu_types = ~std::uint64_t{0};  ///< allowed types, bit per GpuTypeId; ~0 = any
  std::uint32_t speed = 0;                      ///< row of `speeds`; row 0 is 1 on every type
  std::uint32_t home_factor = 0;                ///< row of `factors`; row 0 is all ones
  std::uint32_t width_factor = 0;               ///< row of `factors`
  std::uint32_t rules = 0;                      ///< row of `rules`; row 0 has none
  Level domain = Level::cluster;                ///< widest domain that may hold the job
  bool required = false;
  RackId home_rack;  ///< at most one of home_rack and home_pod is valid
  PodId home_pod;
  QueueId queue;
  std::int32_t priority = 0;
  std::uint32_t time = 0;    ///< row of `time_rules`; row 0 has none
  std::int64_t arrival = 0;  ///< seconds
  double weight = 1.0;
  double value = std::numeric_limits<double>::quiet_NaN();  ///< replaces weight x GPUs unless NaN
  Communication communication = {};
  std::int32_t running = -1;  ///< index into WorkloadTables::running; -1: does not run
};

/// True when the job's list of GPU types has `type`; an invalid one, of machines without GPUs, is
/// in no list. Which tasks the list binds: WorkloadView::allows.
inline bool lists(const Job& job, GpuTypeId type) {
  return type.valid() && ((job.gpu_types >> type.index()) & 1) != 0;
}

/// A job that holds its place when the plan is made.
struct Running {
  JobId job;
  /// The job neither moves nor stops, is not part of objective, bound and plan, and its tasks are
  /// Immovable content of their machines.
  bool pinned = false;
  double stop_cost = 0.0;        ///< value lost when it is stopped, >= 0
  double move_cost = 0.0;        ///< value lost when any task changes its place, >= 0
  std::uint32_t first_task = 0;  ///< tasks [first_task, first_task + tasks) of `running_tasks`
  std::uint32_t tasks = 0;
  std::uint32_t rules = 0;             ///< as in the job's record, which not every rank has
  std::int64_t since = kNotGiven;      ///< second of its start; at most one of the two is given
  std::int64_t remaining = kNotGiven;  ///< seconds to its end, from the moment of the plan
  std::int32_t priority = 0;           ///< of the job, whose record this rank may lack
};

}  // namespace berth::model
