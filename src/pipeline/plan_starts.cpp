// SPDX-License-Identifier: Apache-2.0
#include "plan_starts.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "berth/horizon/device_shares.hpp"

namespace berth::pipeline {
namespace {

using horizon::Problem;
using horizon::Seconds;
using horizon::TaskShare;

/// Tasks of one group on one machine, on one lane when they share a GPU.
struct TasksKey {
  MachineId machine;  ///< of the problem
  std::int32_t group = 0;
  std::int32_t lane = -1;
  auto operator<=>(const TasksKey&) const = default;
};
using TaskCounts = std::map<TasksKey, std::int32_t>;

class PlanStarts {
 public:
  PlanStarts(const model::InstanceView& instance, const HorizonProblem& translated)
      : instance_(instance), translated_(translated), shared_(outages_with_shares(problem())) {
    const NameTable& jobs = instance.workload.tables().job_names;
    for (std::size_t p = 0; p < translated.jobs.size(); ++p) {
      jobs_.emplace(jobs[translated.jobs[p].index()], p);
    }
    for (std::size_t m = 0; m < translated.machines.size(); ++m) {
      machines_.emplace(instance.cluster.machine_names[translated.machines[m].index()], m);
    }
  }

  void add(const model::RawPlacement& raw, std::optional<Seconds> end, horizon::Plan& plan) const {
    const auto at = jobs_.find(raw.job);
    if (at == jobs_.end()) return;
    const auto counts = counts_of(raw, translated_.jobs[at->second]);
    if (!counts || counts->empty()) return;
    const auto options = problem().options_of(problem().jobs[at->second]);
    for (std::size_t k = 0; k < options.size(); ++k) {
      const PoolId pool = problem().machines[counts->begin()->first.machine.index()].pool;
      if (!holds(options[k], pool, *counts)) continue;
      if (end && *end - raw.start != options[k].duration) continue;
      const auto begin = static_cast<std::int32_t>(plan.shares.size());
      for (const auto& [key, tasks] : *counts) {
        plan.shares.push_back({.machine = key.machine,
                               .group = key.group,
                               .tasks = tasks,
                               .devices = 0,
                               .lane = key.lane});
      }
      plan.starts[at->second] = {.option = static_cast<std::int32_t>(k),
                                 .pool = pool,
                                 .start = raw.start,
                                 .shares = {begin, static_cast<std::int32_t>(plan.shares.size())}};
      return;
    }
  }

 private:
  [[nodiscard]] const Problem& problem() const { return translated_.problem; }

  /// None when the plan names a machine or a group that the problem lacks.
  [[nodiscard]] std::optional<TaskCounts> counts_of(const model::RawPlacement& raw,
                                                    JobId job) const {
    const model::WorkloadView& workload = instance_.workload;
    const auto groups = workload.groups_of(workload.job(job));
    TaskCounts counts;
    for (const model::RawTask& task : raw.tasks) {
      const auto group = std::ranges::find_if(groups, [&](const model::TaskGroup& g) {
        return workload.tables().labels[g.label] == task.shape;
      });
      const auto machine = machines_.find(task.machine);
      if (group == groups.end() || machine == machines_.end()) return std::nullopt;
      const MachineId id(machine->second);
      const bool shares = workload.shape(group->shape).gpu_milli > 0 && !task.gpus.empty();
      ++counts[{.machine = id,
                .group = static_cast<std::int32_t>(group - groups.begin()),
                .lane = shares ? lane_of(id, task.gpus.front().index) : -1}];
    }
    return counts;
  }

  /// Each GPU of a machine is a lane of its own: those that outages share first, as DeviceShares
  /// has them.
  [[nodiscard]] std::int32_t lane_of(MachineId machine, std::int64_t device) const {
    const auto at = shared_.find(machine);
    if (at == shared_.end()) return static_cast<std::int32_t>(device);
    const auto devices = horizon::partly_taken_devices(at->second);
    const auto found = std::ranges::find(devices, static_cast<std::int32_t>(device));
    if (found != devices.end()) return static_cast<std::int32_t>(found - devices.begin());
    return static_cast<std::int32_t>(devices.size()) + static_cast<std::int32_t>(device);
  }

  /// True when the option has these tasks, all in the pool.
  [[nodiscard]] bool holds(const horizon::Option& option, PoolId pool,
                           const TaskCounts& counts) const {
    if (!std::ranges::binary_search(problem().pools_of(option), pool)) return false;
    std::vector<std::int32_t> missing;
    for (const horizon::TaskGroup& group : problem().tasks_of(option)) {
      missing.push_back(group.tasks);
    }
    for (const auto& [key, tasks] : counts) {
      if (problem().machines[key.machine.index()].pool != pool) return false;
      missing[static_cast<std::size_t>(key.group)] -= tasks;
    }
    return std::ranges::all_of(missing, [](std::int32_t tasks) { return tasks == 0; });
  }

  model::InstanceView instance_;
  const HorizonProblem& translated_;
  std::map<MachineId, std::vector<const horizon::Outage*>> shared_;
  std::unordered_map<std::string_view, std::size_t> jobs_, machines_;  ///< of the problem
};

}  // namespace

horizon::Plan plan_starts(const model::InstanceView& instance, const HorizonProblem& translated,
                          const model::RawHorizonPlan& raw) {
  horizon::Plan plan;
  plan.starts.resize(translated.problem.jobs.size());
  const PlanStarts starts(instance, translated);
  for (std::size_t p = 0; p < raw.plan.placements.size(); ++p) {
    starts.add(raw.plan.placements[p], p < raw.ends.size() ? raw.ends[p] : std::nullopt, plan);
  }
  return plan;
}

}  // namespace berth::pipeline
