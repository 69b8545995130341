// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/base/name_table.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/job.hpp"
#include "berth/model/job_set.hpp"
#include "berth/model/placement_rules.hpp"
#include "berth/model/task_placement.hpp"
#include "berth/model/time_rules.hpp"

namespace berth::model {

/// Factor of values and costs of the jobs of one priority.
struct PriorityWeight {
  std::int32_t priority = 0;
  double weight = 1.0;  ///< a power of two or 0, so that weighted values are exact
};

/// Names and users of jobs, for reports: what people know a job by. Only jobs that have one of them
/// are listed. They are in neither digest and change no plan.
struct JobTitles {
  std::vector<JobId> job;  ///< ascending
  NameTable name;          ///< by position in `job`; may be empty and need not be unique
  NameTable user;          ///< by position in `job`; may be empty

  [[nodiscard]] std::string_view name_of(JobId id) const { return find(id, name); }
  [[nodiscard]] std::string_view user_of(JobId id) const { return find(id, user); }

 private:
  /// Empty for a job without one. O(log titles)
  [[nodiscard]] std::string_view find(JobId id, const NameTable& texts) const {
    const auto at = std::ranges::lower_bound(job, id);
    return at == job.end() || *at != id ? std::string_view{}
                                        : texts[static_cast<std::size_t>(at - job.begin())];
  }
};

template <class Archive>
void describe(Archive& archive, JobTitles& titles) {
  archive(titles.job, titles.name, titles.user);
}

/// Values that jobs share, each stored once, running jobs and names. Equal on all ranks except
/// names, titles and notes, which only rank 0 has. Constant after reading.
struct WorkloadTables {
  NameTable job_names;        ///< by JobId
  JobTitles titles = {};      ///< only on rank 0
  std::vector<Shape> shapes;  ///< by ShapeId, distinct
  std::vector<Factors> factors{{1.0, 1.0, 1.0, 1.0}};
  std::vector<PlacementRules> rules = std::vector<PlacementRules>(1);  ///< distinct
  std::vector<TimeRules> time_rules = std::vector<TimeRules>(1);       ///< distinct
  std::vector<Utility> utilities = std::vector<Utility>(1);  ///< distinct; row 0: no table
  /// Distinct; row 0: the job is not elastic. Of any other row exactly one entry is chosen.
  std::vector<std::vector<Configuration>> configurations =
      std::vector<std::vector<Configuration>>(1);
  std::vector<Dependency> dependencies;      ///< ascending, distinct; without cycles
  std::vector<double> speeds;                ///< rows of `speed_types` entries, by GpuTypeId
  std::uint32_t speed_types = 0;             ///< row length = number of GPU types of the cluster
  std::vector<std::string> labels;           ///< names of task groups, distinct
  std::vector<Running> running;              ///< ascending job
  std::vector<TaskPlacement> running_tasks;  ///< per job by group, then machine and devices

  /// Messages of the reader of the jobs file, one line each (such as keys by an old name). They are
  /// not in the instance's digest.
  std::vector<std::string> notes = {};

  /// At most one per priority; empty: values count as the files have them. Files have none: they
  /// make the sums over classes of priority that bounds and plans by priority need. Costs in
  /// `running` are weighted already (`set_weights`).
  std::vector<PriorityWeight> weights = {};

  [[nodiscard]] const Shape& shape(ShapeId id) const { return shapes[id.index()]; }
  /// Factor of the value of a job, by its priority; 1 for a priority that is not listed.
  [[nodiscard]] double weight_of(std::int32_t priority) const {
    for (const PriorityWeight& w : weights) {
      if (w.priority == priority) return w.weight;
    }
    return 1.0;
  }
  [[nodiscard]] double speed(const Job& job, GpuTypeId type) const {
    return speeds.empty() ? 1.0 : speeds[job.speed * std::size_t{speed_types} + type.index()];
  }
  [[nodiscard]] const PlacementRules& rules_of(const Job& job) const { return rules[job.rules]; }
  [[nodiscard]] const TimeRules& time_of(const Job& job) const { return time_rules[job.time]; }
  /// Which jobs must have ended before this one starts. O(log dependencies)
  [[nodiscard]] std::span<const Dependency> dependencies_of(JobId job) const {
    const auto first = std::ranges::lower_bound(dependencies, job, {}, &Dependency::job);
    return {first, std::ranges::upper_bound(first, dependencies.end(), job, {}, &Dependency::job)};
  }
  /// The present placement of a running job, or null.
  [[nodiscard]] const Running* running_of(const Job& job) const {
    return job.running < 0 ? nullptr : &running[static_cast<std::size_t>(job.running)];
  }
  [[nodiscard]] bool pinned(const Job& job) const {
    return job.running >= 0 && running[static_cast<std::size_t>(job.running)].pinned;
  }
  [[nodiscard]] std::span<const TaskPlacement> tasks_of(const Running& r) const {
    return std::span(running_tasks).subspan(r.first_task, r.tasks);
  }
};

/// Without notes: only rank 0 prints them.
template <class Archive>
void describe(Archive& archive, WorkloadTables& t) {
  archive(t.job_names, t.shapes, t.factors, t.rules, t.speeds, t.speed_types, t.labels, t.running);
  archive(t.running_tasks, t.time_rules, t.utilities, t.configurations, t.dependencies, t.weights);
  archive(t.titles);
}

/// Sets the weights of a copy of `original`, and the costs of running jobs: those of the original
/// times the weight. @pre `copy` has the running jobs of the original
void set_weights(const WorkloadTables& original, std::vector<PriorityWeight> weights,
                 WorkloadTables& copy);

/// Tables and records in one value, as read from files.
struct Workload : WorkloadTables, JobSet {
  [[nodiscard]] std::int64_t gpu_milli(const Job& job) const;  ///< over all tasks
};

/// A workload as one rank reads it: the tables, and the records of this rank, which may be a part
/// of all and which their owner may change. Holds references.
class WorkloadView {
 public:
  WorkloadView(const WorkloadTables& tables, const JobSet& records)
      : tables_(&tables), records_(&records) {}
  WorkloadView(const Workload& workload) : WorkloadView(workload, workload) {}

  [[nodiscard]] const WorkloadTables& tables() const { return *tables_; }
  [[nodiscard]] const JobSet& records() const { return *records_; }

  [[nodiscard]] bool in_parts() const { return records_->in_parts(); }
  [[nodiscard]] std::size_t size() const { return records_->size(); }
  [[nodiscard]] bool has(JobId id) const { return records_->has(id); }
  [[nodiscard]] const Job& job(JobId id) const { return records_->job(id); }
  [[nodiscard]] std::span<const TaskGroup> groups_of(const Job& job) const {
    return records_->groups_of(job);
  }
  [[nodiscard]] std::int64_t tasks(const Job& job) const { return records_->tasks(job); }
  [[nodiscard]] const Shape& shape(ShapeId id) const { return tables_->shape(id); }
  [[nodiscard]] double speed(const Job& job, GpuTypeId type) const {
    return tables_->speed(job, type);
  }
  [[nodiscard]] const PlacementRules& rules_of(const Job& job) const {
    return tables_->rules_of(job);
  }
  [[nodiscard]] const TimeRules& time_of(const Job& job) const { return tables_->time_of(job); }
  [[nodiscard]] std::span<const Dependency> dependencies_of(JobId job) const {
    return tables_->dependencies_of(job);
  }
  [[nodiscard]] const Running* running_of(const Job& job) const { return tables_->running_of(job); }
  [[nodiscard]] bool pinned(const Job& job) const { return tables_->pinned(job); }
  [[nodiscard]] std::span<const TaskPlacement> tasks_of(const Running& r) const {
    return tables_->tasks_of(r);
  }
  [[nodiscard]] std::int64_t gpu_milli(const Job& job) const;  ///< over all tasks
  /// True when a task of this shape of the job may be placed on machines with GPUs of `type`
  /// (invalid: machines without GPUs). A list of types binds tasks with GPUs, and all tasks of a
  /// job without GPUs. O(groups of the job)
  [[nodiscard]] bool allows(const Job& job, const Shape& shape, GpuTypeId type) const;

 private:
  const WorkloadTables* tables_;
  const JobSet* records_;
};

/// The jobs that a plan decides about, ascending: all but the pinned ones; in a part those with a
/// record.
std::vector<JobId> planned_jobs(const WorkloadView& workload);

/// Jobs that neither move nor stop, ascending.
std::vector<JobId> pinned_jobs(const WorkloadTables& tables);

}  // namespace berth::model
