// SPDX-License-Identifier: Apache-2.0
#include "priority_step.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/comm/messages.hpp"
#include "berth/planner_model/room.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::pipeline {
namespace {

using model::Job;
using model::JobPlacement;
using model::Level;
using model::Running;

/// Weight of values of classes below: with it a running job decides between places that are worth
/// the same to jobs of the class. Chosen, not tuned.
constexpr double kLowerWeight = 0x1p-12;

/// Weight of the value of a placed job of a class above that has to stay near home: elsewhere it is
/// worth nothing, so no job of this class gains by moving it away. Chosen, not tuned.
constexpr double kHomeWeight = 0x1p10;

/// Builds the step from all jobs.
class StepBuilder {
 public:
  StepBuilder(const model::InstanceView& instance, model::Objective objective,
              std::int32_t priority, const model::Placement& placed)
      : instance_(instance),
        workload_(instance.workload),
        traits_(model::traits(objective)),
        priority_(priority),
        placed_(placed) {}

  void build(PriorityStep& step) {
    step_ = &step;
    step.tables.running.clear();
    step.tables.running_tasks.clear();
    step.records = workload_.records();
    add_cut_factors();
    find_displaced();
    std::set<std::int32_t> lower;
    for (std::size_t j = 0; j < workload_.size(); ++j) {
      Job& job = step.records.jobs[j];
      if (job.priority < priority_) lower.insert(job.priority);
      change(JobId(j), job);
    }
    for (const std::int32_t p : lower) step.tables.weights.push_back({p, kLowerWeight});
  }

 private:
  /// After the original rows: each with 0 beyond the rack, and with 0 beyond the pod.
  void add_cut_factors() {
    auto& rows = step_->tables.factors;
    originals_ = rows.size();
    for (std::size_t row = 0; row < originals_; ++row) {
      for (const Level widest : {Level::rack, Level::pod}) {
        model::Factors cut = rows[row];
        for (auto l = static_cast<std::size_t>(widest) + 1; l < cut.size(); ++l) cut[l] = 0.0;
        rows.push_back(cut);
      }
    }
  }

  [[nodiscard]] const JobPlacement* placed(JobId job) const {
    const auto at = std::ranges::lower_bound(placed_, job, {}, &JobPlacement::job);
    return at != placed_.end() && at->job == job ? &*at : nullptr;
  }
  [[nodiscard]] bool takes_part(const Job& job) const {
    return job.priority == priority_ || job.required ||
           (job.running >= 0 && job.priority < priority_);
  }

  /// Running jobs that are not placed, but take part, and whose place placed jobs or running jobs
  /// of higher classes use.
  void find_displaced() {
    std::vector<std::tuple<std::int64_t, JobId>> order;
    for (const Running& r : workload_.tables().running) {
      if (!r.pinned && placed(r.job) == nullptr && takes_part(workload_.job(r.job))) {
        order.emplace_back(-std::int64_t{r.priority}, r.job);
      }
    }
    if (order.empty()) return;
    std::ranges::sort(order);
    planner_model::Room room(instance_.cluster);
    for (const JobPlacement& p : placed_) planner_model::take(room, workload_, p);
    for (const auto& [key, id] : order) {
      const JobPlacement present =
          planner_model::current_placement(workload_, *workload_.running_of(workload_.job(id)));
      if (!planner_model::may_stay(instance_.cluster, present)) continue;
      if (planner_model::is_free(room, workload_, present)) {
        planner_model::take(room, workload_, present);
      } else {
        displaced_.insert(id);
      }
    }
  }

  void change(JobId id, Job& job) {
    const Running* running = workload_.running_of(job);
    if (running != nullptr && running->pinned) {
      add_running(*running, workload_.tasks_of(*running), job);
    } else if (const JobPlacement* at = placed(id)) {
      protect(*at, running, job);
    } else if (!takes_part(job)) {
      job.gpu_types = 0;
      job.required = false;
      job.running = -1;
    } else if (running != nullptr && displaced_.contains(id)) {
      if (traits_.costs) charge(*running, job);
      job.running = -1;
    } else if (running != nullptr) {
      add_running(*running, workload_.tasks_of(*running), job);
    }
  }

  void protect(const JobPlacement& at, const Running* running, Job& job) {
    Running entry{.job = at.job, .rules = job.rules, .priority = job.priority};
    if (running != nullptr && planner_model::stays(workload_, *running, at)) entry = *running;
    if (job.priority > priority_ && traits_.factors) keep_value(at, job);
    job.required = true;
    std::vector<model::TaskPlacement> tasks = at.tasks;
    std::ranges::sort(tasks, {}, [](const model::TaskPlacement& t) {
      return std::tuple(t.group, t.machine, t.devices);
    });
    add_running(entry, tasks, job);
  }

  /// Leaves the job the places that are worth at least as much as this one.
  void keep_value(const JobPlacement& at, Job& job) const {
    const planner_model::Extent extent = planner_model::extent(instance_, at);
    const auto on_gpu =
        std::ranges::find_if(at.tasks, [](const auto& t) { return t.devices != 0; });
    if (on_gpu != at.tasks.end()) {
      const GpuTypeId present = instance_.cluster.class_of(on_gpu->machine).gpu_type;
      for (std::size_t t = 0; t < instance_.cluster.gpu_types.size(); ++t) {
        const bool slower = workload_.speed(job, GpuTypeId(t)) < workload_.speed(job, present);
        if (slower) job.gpu_types &= ~(std::uint64_t{1} << t);
      }
    }
    const auto& factors = workload_.tables().factors;
    const auto widest = [&](std::uint32_t row, Level from) {  // of an equal factor
      auto level = static_cast<std::size_t>(from);
      while (level + 1 < model::kLevels && factors[row][level + 1] == factors[row][level]) ++level;
      return static_cast<Level>(level);
    };
    job.domain = std::min(job.domain, widest(job.width_factor, extent.width));
    const Level distance = std::max(Level::rack, widest(job.home_factor, extent.distance));
    if (distance < Level::cluster) {
      job.home_factor = static_cast<std::uint32_t>(originals_) + 2 * job.home_factor +
                        (distance == Level::pod ? 1 : 0);
      job.weight *= kHomeWeight;
      job.value *= kHomeWeight;
    }
  }

  /// Puts the costs of a job that cannot stay into its value: stopping saves nothing.
  void charge(const Running& running, Job& job) const {
    const double gpus = static_cast<double>(workload_.gpu_milli(job)) / model::kGpuMilli;
    const double base = std::isnan(job.value) ? job.weight * gpus : job.value;
    job.value = std::max(0.0, base + running.stop_cost - running.move_cost);
  }

  void add_running(Running entry, std::span<const model::TaskPlacement> tasks, Job& job) {
    model::WorkloadTables& tables = step_->tables;
    entry.first_task = static_cast<std::uint32_t>(tables.running_tasks.size());
    entry.tasks = static_cast<std::uint32_t>(tasks.size());
    if (entry.priority < priority_) {
      entry.stop_cost *= kLowerWeight;
      entry.move_cost *= kLowerWeight;
    }
    tables.running_tasks.insert(tables.running_tasks.end(), tasks.begin(), tasks.end());
    job.running = static_cast<std::int32_t>(tables.running.size());
    tables.running.push_back(entry);
  }

  model::InstanceView instance_;
  model::WorkloadView workload_;
  const model::ObjectiveTraits& traits_;
  std::int32_t priority_;
  const model::Placement& placed_;
  PriorityStep* step_ = nullptr;
  std::size_t originals_ = 0;  ///< rows of factors
  std::set<JobId> displaced_;
};

/// An empty part with the pinned jobs. Their positions among the running jobs change by step.
model::JobSet pinned_part(const model::WorkloadView& workload, const model::WorkloadTables& step) {
  model::JobSet part;
  part.position.assign(workload.size(), model::JobSet::kMissing);
  for (std::size_t i = 0; i < step.running.size(); ++i) {
    if (!step.running[i].pinned) continue;
    Job job = workload.job(step.running[i].job);
    job.running = static_cast<std::int32_t>(i);
    model::add_job(part, step.running[i].job, job, workload.groups_of(job));
  }
  return part;
}

}  // namespace

PriorityStep priority_step(const comm::Communicator& comm, const model::InstanceView& instance,
                           model::Objective objective, std::int32_t priority,
                           const model::Placement& placed) {
  PriorityStep step{.tables = instance.workload.tables(), .records = {}};
  comm.agreed_on_root([&] { StepBuilder(instance, objective, priority, placed).build(step); });
  comm::broadcast(comm, step.tables.factors);
  comm::broadcast(comm, step.tables.running);
  comm::broadcast(comm, step.tables.running_tasks);
  comm::broadcast(comm, step.tables.weights);
  if (comm.rank() != 0) step.records = pinned_part(instance.workload, step.tables);
  return step;
}

}  // namespace berth::pipeline
