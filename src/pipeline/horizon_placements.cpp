// SPDX-License-Identifier: Apache-2.0
#include "horizon_placements.hpp"

#include "horizon_costs.hpp"
#include "horizon_moves.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/horizon/dependency_graph.hpp"
#include "berth/horizon/machine_timeline.hpp"

namespace berth::pipeline {
namespace {

using horizon::JobStart;
using horizon::Problem;
using horizon::Seconds;
using model::InstanceView;

/// The lowest `count` devices of the set, which loses them.
std::uint64_t take_lowest(std::uint64_t& devices, std::int32_t count) {
  std::uint64_t taken = 0;
  for (; count > 0; --count) {
    const std::uint64_t lowest = devices & (~devices + 1);
    taken |= lowest;
    devices &= ~lowest;
  }
  return taken;
}

model::JobPlacement placement_of(const HorizonProblem& translated, const horizon::Plan& found,
                                 std::size_t j) {
  const Problem& problem = translated.problem;
  const JobStart& start = found.starts[j];
  const auto& option = problem.options_of(problem.jobs[j])[static_cast<std::size_t>(start.option)];
  const auto groups = problem.tasks_of(option);
  model::JobPlacement placed{.job = translated.jobs[j], .start = start.start, .tasks = {}};
  for (const horizon::TaskShare& share : start.shares.of(found.shares)) {
    std::uint64_t devices = share.devices;
    const auto& group = groups[static_cast<std::size_t>(share.group)];
    const bool shared = group.milli > 0;
    const auto each = problem.machines[share.machine.index()].share_taken(group.milli);
    for (std::int32_t task = 0; task < share.tasks; ++task) {
      placed.tasks.push_back(
          {.machine = translated.machines[share.machine.index()],
           .group = static_cast<std::uint32_t>(share.group),
           .devices = shared ? share.devices : take_lowest(devices, group.gpus),
           .milli = shared ? static_cast<std::int32_t>(each) : (group.gpus > 0 ? 1000 : 0)});
    }
  }
  std::ranges::stable_sort(placed.tasks, {}, &model::TaskPlacement::group);
  return placed;
}

/// Finds when waiting jobs could start beside a plan.
class EarliestStarts {
 public:
  EarliestStarts(const Problem& problem, const horizon::Plan& plan)
      : problem_(problem), timeline_(problem), budgets_(problem) {
    for (std::size_t j = 0; j < plan.starts.size(); ++j) {
      const JobStart& start = plan.starts[j];
      if (!start.placed()) continue;
      const auto& option =
          problem.options_of(problem.jobs[j])[static_cast<std::size_t>(start.option)];
      const auto shares = start.shares.of(plan.shares);
      timeline_.retake(option, start.pool, start.start, {shares.begin(), shares.end()});
      budgets_.take(option, start.start, 1);
    }
  }

  /// Of a completion in time: one that a job which may be left out gains from.
  std::optional<Seconds> of(std::size_t j, Seconds release, Seconds end) {
    const horizon::Job& job = problem_.jobs[j];
    Seconds earliest = horizon::kNever;
    for (const horizon::Option& option : problem_.options_of(job)) {
      for (const PoolId pool : problem_.pools_of(option)) {
        const Seconds start = timeline_.earliest_until(option, pool, release, end);
        const Seconds completion = start + option.duration;
        if (start >= end || completion > job.deadline) continue;
        if (!budgets_.allow(option, start)) continue;
        const bool in_time = job.required || cost_at(problem_.cost_of(option), completion) < 0.0;
        if (in_time) earliest = std::min(earliest, start);
      }
    }
    return earliest < end ? std::optional(earliest) : std::nullopt;
  }

  /// True when no option's start at `release` leaves the budgets whole.
  [[nodiscard]] bool over_budget(std::size_t j, Seconds release) const {
    return std::ranges::none_of(
        problem_.options_of(problem_.jobs[j]),
        [&](const horizon::Option& option) { return budgets_.allow(option, release); });
  }

 private:
  const Problem& problem_;
  horizon::MachineTimeline timeline_;
  horizon::BudgetsLeft budgets_;
};

/// Tells why jobs wait.
class WaitingJobs {
 public:
  WaitingJobs(const InstanceView& instance, const HorizonProblem& translated,
              const horizon::Plan& plan, Seconds end)
      : instance_(instance),
        translated_(translated),
        plan_(plan),
        end_(end),
        graph_(plan.starts.size(), translated.problem.dependencies),
        earliest_(translated.problem, plan) {}

  model::WaitingJob of(std::size_t j) {
    model::WaitingJob waiting{.job = translated_.jobs[j], .reason = {}, .earliest_start = {}};
    const horizon::Job& job = translated_.problem.jobs[j];
    Seconds release = job.release;
    for (const JobId before : graph_.before(JobId(j))) {
      const JobStart& start = plan_.starts[before.index()];
      if (!start.placed()) {
        waiting.reason = "job " + name_of(before) + " must end first, and waits";
        return waiting;
      }
      release = std::max(release, end_of(translated_.problem, before, start));
    }
    if (job.options.size() == 0) {
      waiting.reason = "no machine can run it within its limit";
    } else if (release >= end_) {
      waiting.reason = "may start only after the horizon";
    } else {
      waiting.earliest_start = earliest_.of(j, release, end_);
      waiting.reason = waiting.earliest_start ? "other jobs are worth more in its place"
                                              : "no room to end in time";
      if (!waiting.earliest_start && earliest_.over_budget(j, release)) {
        waiting.reason = "the GPU-hours of its queue are used";
      }
      if (instance_.workload.job(waiting.job).running >= 0) {
        waiting.reason = "must leave its machines: " + waiting.reason;
      }
    }
    return waiting;
  }

 private:
  [[nodiscard]] std::string name_of(JobId job) const {
    return std::string(
        instance_.workload.tables().job_names[translated_.jobs[job.index()].index()]);
  }

  InstanceView instance_;
  const HorizonProblem& translated_;
  const horizon::Plan& plan_;
  Seconds end_;  ///< of the horizon
  horizon::DependencyGraph graph_;
  EarliestStarts earliest_;
};

void add_running(const InstanceView& instance, const model::Horizon& horizon,
                 std::map<JobId, std::pair<model::JobPlacement, Seconds>>& placed) {
  for (const model::Running& running : instance.workload.tables().running) {
    if (running.pinned || must_move(instance, horizon, running.job)) continue;
    const auto tasks = instance.workload.tasks_of(running);
    placed[running.job] = {
        {.job = running.job, .start = horizon.now, .tasks = {tasks.begin(), tasks.end()}},
        running_until(instance, horizon, instance.workload.job(running.job))};
  }
}

}  // namespace

void add_jobs(const InstanceView& instance, const HorizonProblem& translated,
              const horizon::Plan& found, model::HorizonPlan& plan) {
  const bool bounded = !model::minimised(plan.horizon.objective);
  std::map<JobId, std::pair<model::JobPlacement, Seconds>> placed;
  add_running(instance, plan.horizon, placed);
  horizon::Plan kept = found;
  std::vector<std::size_t> left;
  for (std::size_t j = 0; j < kept.starts.size(); ++j) {
    JobStart& start = kept.starts[j];
    if (start.placed() && bounded && start.start >= plan.horizon.end()) start = {};
    if (!start.placed()) {
      left.push_back(j);
      continue;
    }
    placed[translated.jobs[j]] = {placement_of(translated, kept, j),
                                  end_of(translated.problem, JobId(j), start)};
  }
  for (auto& [job, one] : placed) {
    plan.placements.push_back(std::move(one.first));
    plan.ends.push_back(one.second);
  }
  WaitingJobs waiting(instance, translated, kept, plan.horizon.end());
  for (const std::size_t j : left) plan.waiting.push_back(waiting.of(j));
}

}  // namespace berth::pipeline
