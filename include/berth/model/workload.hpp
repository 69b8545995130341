// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/base/name_table.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/resources.hpp"
#include "berth/model/task_placement.hpp"

namespace berth::model {

/// How wide a job lies, and how far from home: the narrowest domain that holds all its tasks.
/// Ordered: a wider level compares greater.
enum class Level : std::uint8_t { machine, rack, pod, cluster };
inline constexpr int kLevels = 4;

/// What one task takes from one machine. Exactly one of `gpus` and `gpu_milli` may be positive.
struct Shape {
  Resources needs = {};
  std::int32_t gpus = 0;       ///< whole devices
  std::int32_t gpu_milli = 0;  ///< share of one device, 1..999; 0 = no share

  /// GPU thousandths the task asks for in all; where GPUs are cut into slices it may take more.
  [[nodiscard]] std::int64_t total_milli() const { return std::int64_t{1000} * gpus + gpu_milli; }
  [[nodiscard]] bool uses_gpu() const { return gpus > 0 || gpu_milli > 0; }
  auto operator<=>(const Shape&) const = default;
};

/// `count` equal tasks of a job.
struct TaskGroup {
  ShapeId shape;
  std::int32_t count = 1;
  std::uint32_t label = 0;  ///< name of the group in the job file ("worker"), index into `labels`
};

/// Value factors by Level, each in [0, 1], never rising with width. Entry `machine` of a home
/// profile equals entry `rack`: being in the home rack is as near as it gets.
using Factors = std::array<double, kLevels>;

/// Who talks to whom while the job runs.
enum class CommunicationPattern : std::uint8_t {
  none,
  ring,  ///< ring all-reduce over all tasks
  ps,    ///< every worker with every parameter server
};

/// Traffic between the tasks of a job. It loads the uplinks of the racks and pods it crosses; the
/// job runs at full speed or not at all.
struct Communication {
  CommunicationPattern pattern = CommunicationPattern::none;
  std::uint32_t servers = 0;  ///< ps: which of the job's task groups are the servers
  /// ring: on every uplink of a rack (pod) of the ring, when there are several; ps: what one worker
  /// sends, and receives, evenly over all servers. Mbit/s each way.
  std::int64_t mbps = 0;
};

/// One training job. All GPU tasks lie on one GPU type; all tasks are placed or none is (gang).
struct Job {
  std::uint32_t first_group = 0;  ///< groups [first_group, first_group + groups) of the workload
  std::uint32_t groups = 0;
  std::uint64_t gpu_types = ~std::uint64_t{0};  ///< allowed types, bit per GpuTypeId; ~0 = any
  std::uint32_t speed = 0;                      ///< row of `speeds`; row 0 is 1 on every type
  std::uint32_t home_factor = 0;                ///< row of `factors`; row 0 is all ones
  std::uint32_t width_factor = 0;               ///< row of `factors`
  Level domain = Level::cluster;                ///< the widest domain the job may lie in
  bool required = false;
  RackId home_rack;  ///< at most one of home_rack and home_pod is valid
  PodId home_pod;
  QueueId queue;
  std::int32_t priority = 0;
  std::int64_t arrival = 0;  ///< seconds
  double weight = 1.0;
  double value = std::numeric_limits<double>::quiet_NaN();  ///< replaces weight x GPUs when given
  Communication communication = {};
  std::int32_t running = -1;  ///< index into Workload::running; -1: it waits
};

/// A task of this shape of the job may lie on machines with GPUs of `type` (invalid: without any).
/// A list of types holds for tasks without GPUs too.
inline bool allows(const Job& job, const Shape& shape, GpuTypeId type) {
  if (!shape.uses_gpu() && job.gpu_types == ~std::uint64_t{0}) return true;
  return type.valid() && ((job.gpu_types >> type.index()) & 1) != 0;
}

/// A job that holds its place when the plan is made.
struct Running {
  JobId job;
  /// It neither moves nor stops, counts in neither objective nor bound, and is not in the plan; its
  /// tasks are Immovable content of their machines.
  bool pinned = false;
  double stop_cost = 0.0;        ///< value lost when it is stopped, >= 0
  double move_cost = 0.0;        ///< value lost when any task runs elsewhere than now, >= 0
  std::uint32_t first_task = 0;  ///< tasks [first_task, first_task + tasks) of `running_tasks`
  std::uint32_t tasks = 0;
};

/// Jobs in file order. Repeated parts (shapes, speeds, factors, labels) are kept once.
struct Workload {
  static constexpr std::int32_t kMissing = -1;

  NameTable job_names;    ///< by JobId; of a workload in parts rank 0 has them all
  std::vector<Job> jobs;  ///< by JobId, in a part by `position`
  /// Of a part of a workload, by JobId of the whole: where the job is in `jobs`, or kMissing. Empty
  /// where all jobs are there. Everything but names, jobs and groups is whole in a part too.
  std::vector<std::int32_t> position;
  std::vector<TaskGroup> groups;
  std::vector<Shape> shapes;  ///< by ShapeId, distinct
  std::vector<Factors> factors{{1.0, 1.0, 1.0, 1.0}};
  std::vector<double> speeds;                ///< rows of `speed_types` entries, by GpuTypeId
  std::uint32_t speed_types = 0;             ///< row length = number of GPU types of the cluster
  std::vector<std::string> labels;           ///< names of task groups, distinct
  std::vector<Running> running;              ///< ascending job
  std::vector<TaskPlacement> running_tasks;  ///< of each job by group, then machine and devices

  /// What the reader of the jobs file has to say, one line each (keys by an old name). No part of
  /// the instance: not in its digest; of a workload in parts rank 0 has them.
  std::vector<std::string> notes = {};

  [[nodiscard]] bool in_parts() const { return !position.empty(); }
  /// Jobs of the whole.
  [[nodiscard]] std::size_t size() const { return in_parts() ? position.size() : jobs.size(); }
  [[nodiscard]] bool has(JobId id) const { return !in_parts() || position[id.index()] != kMissing; }
  /// @pre has(id); of a part asserted in release builds too
  [[nodiscard]] const Job& job(JobId id) const {
    BERTH_ASSERT(has(id));
    return jobs[in_parts() ? static_cast<std::size_t>(position[id.index()]) : id.index()];
  }
  [[nodiscard]] const Shape& shape(ShapeId id) const { return shapes[id.index()]; }
  [[nodiscard]] std::span<const TaskGroup> groups_of(const Job& j) const {
    return std::span(groups).subspan(j.first_group, j.groups);
  }
  [[nodiscard]] double speed(const Job& j, GpuTypeId type) const {
    return speeds.empty() ? 1.0 : speeds[j.speed * std::size_t{speed_types} + type.index()];
  }
  /// Where the job runs now, or null.
  [[nodiscard]] const Running* running_of(const Job& j) const {
    return j.running < 0 ? nullptr : &running[static_cast<std::size_t>(j.running)];
  }
  [[nodiscard]] bool pinned(const Job& j) const {
    return j.running >= 0 && running[static_cast<std::size_t>(j.running)].pinned;
  }
  [[nodiscard]] std::span<const TaskPlacement> tasks_of(const Running& r) const {
    return std::span(running_tasks).subspan(r.first_task, r.tasks);
  }
  [[nodiscard]] std::int64_t gpu_milli(const Job& j) const;  ///< over all tasks
  [[nodiscard]] std::int64_t tasks(const Job& j) const;      ///< over all groups
};

/// The jobs a plan decides about: all but the pinned ones, ascending; of a part those it has.
std::vector<JobId> planned_jobs(const Workload& workload);

/// All jobs of a part (of a whole: all), ascending; pinned ones too.
std::vector<JobId> local_jobs(const Workload& workload);

/// A whole workload as a part that has every job. O(jobs)
void make_part(Workload& whole);
/// A part that has every job as a whole: records in the order of the jobs. O(jobs + groups), for a
/// moment twice the records. @pre it has every job
void make_whole(Workload& part);

/// Adds a job to a part that lacks it; its groups' place is set.
void add_job(Workload& part, JobId id, const Job& job, std::span<const TaskGroup> groups);

/// All jobs of a part go but these and the pinned ones. @param jobs  any order; missing ones are
/// nothing. O(jobs of the whole), no second copy of the records.
void keep_jobs(Workload& part, std::span<const JobId> jobs);

}  // namespace berth::model
