// SPDX-License-Identifier: Apache-2.0
#include "horizon_promises.hpp"

#include "horizon_costs.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "berth/horizon/device_shares.hpp"

namespace berth::pipeline {
namespace {

using horizon::CostPiece;
using horizon::Option;
using horizon::Problem;
using horizon::Seconds;
using model::InstanceView;

/// Ids of the names in a table.
template <class Id>
class IdsByName {
 public:
  explicit IdsByName(const NameTable& names) {
    for (std::size_t i = 0; i < names.size(); ++i) ids_.emplace(names[i], Id(i));
  }
  [[nodiscard]] Id of(std::string_view name) const {
    const auto found = ids_.find(name);
    return found == ids_.end() ? Id{} : found->second;
  }

 private:
  std::unordered_map<std::string_view, Id> ids_;
};

/// Empty when a name is unknown.
std::vector<model::TaskPlacement> tasks_of(const InstanceView& instance, JobId job,
                                           const model::RawPlacement& raw,
                                           const IdsByName<MachineId>& machines) {
  const auto groups = instance.workload.groups_of(instance.workload.job(job));
  std::vector<model::TaskPlacement> tasks;
  for (const model::RawTask& task : raw.tasks) {
    const auto group = std::ranges::find_if(groups, [&](const model::TaskGroup& g) {
      return instance.workload.tables().labels[g.label] == task.shape;
    });
    const MachineId machine = machines.of(task.machine);
    if (group == groups.end() || !machine.valid()) return {};
    std::uint64_t devices = 0;
    for (const model::RawDevice& gpu : task.gpus) {
      if (gpu.index >= 0 && gpu.index < 64) devices |= std::uint64_t{1} << gpu.index;
    }
    tasks.push_back({.machine = machine,
                     .group = static_cast<std::uint32_t>(group - groups.begin()),
                     .devices = devices,
                     .milli = 0});
  }
  return tasks;
}

/// Starts of promises in the problem.
class KeptStarts {
 public:
  explicit KeptStarts(const HorizonProblem& translated)
      : translated_(translated), problem_(translated.problem) {
    if (!has_shares(problem_)) return;
    for (const auto& [machine, outages] : horizon::outages_with_shares(problem_)) {
      partly_taken_[machine] = horizon::partly_taken_devices(outages);
    }
  }

  /// Adds the start with the option and pool that hold the promised tasks, if there are such.
  void add(JobId position, const PromisedStart& promise, horizon::Plan& plan) const;

 private:
  /// A lane for each GPU on which shares were.
  [[nodiscard]] std::int32_t lane_of(MachineId machine, std::uint64_t devices) const {
    const std::int32_t device = std::countr_zero(devices);
    const auto taken = partly_taken_.find(machine);
    if (taken == partly_taken_.end()) return device;
    const auto found = std::ranges::find(taken->second, device);
    const std::ptrdiff_t lanes = std::ssize(taken->second);
    return static_cast<std::int32_t>(found == taken->second.end() ? lanes + device
                                                                  : found - taken->second.begin());
  }

  /// The tasks as shares of machines of the pool; empty when the pool lacks one.
  [[nodiscard]] std::vector<horizon::TaskShare> shares_in(
      PoolId pool, std::span<const horizon::TaskGroup> groups, const PromisedStart& promise) const {
    const auto range = problem_.pools[pool.index()].machines;
    const auto first = translated_.machines.begin() + range.begin;
    const auto last = translated_.machines.begin() + range.end;
    std::map<std::tuple<MachineId, std::int32_t, std::int32_t>, std::int32_t> tasks;
    for (const model::TaskPlacement& task : promise.tasks) {
      const auto found = std::lower_bound(first, last, task.machine);  // ascending in a pool
      if (found == last || *found != task.machine) return {};
      const MachineId machine(static_cast<std::size_t>(found - translated_.machines.begin()));
      const bool shared = groups[task.group].milli > 0 && task.devices != 0;
      const std::int32_t lane = shared ? lane_of(machine, task.devices) : -1;
      ++tasks[{machine, static_cast<std::int32_t>(task.group), lane}];
    }
    std::vector<horizon::TaskShare> shares;
    for (const auto& [where, count] : tasks) {
      const auto& [machine, group, lane] = where;
      shares.push_back({.machine = machine, .group = group, .tasks = count, .lane = lane});
    }
    return shares;
  }

  const HorizonProblem& translated_;
  const Problem& problem_;
  std::map<MachineId, std::vector<std::int32_t>> partly_taken_;  ///< GPUs of shares that run
};

void KeptStarts::add(JobId position, const PromisedStart& promise, horizon::Plan& plan) const {
  const auto options = problem_.options_of(problem_.jobs[position.index()]);
  for (std::size_t k = 0; k < options.size(); ++k) {
    const auto groups = problem_.tasks_of(options[k]);
    std::vector<std::int32_t> missing;
    for (const horizon::TaskGroup& group : groups) missing.push_back(group.tasks);
    for (const model::TaskPlacement& task : promise.tasks) --missing[task.group];
    if (std::ranges::any_of(missing, [](std::int32_t tasks) { return tasks != 0; })) continue;
    for (const PoolId pool : problem_.pools_of(options[k])) {
      const auto shares = shares_in(pool, groups, promise);
      if (shares.empty()) continue;
      const auto begin = static_cast<std::int32_t>(plan.shares.size());
      plan.shares.insert(plan.shares.end(), shares.begin(), shares.end());
      plan.starts[position.index()] = {
          .option = static_cast<std::int32_t>(k),
          .pool = pool,
          .start = promise.start,
          .shares = {begin, begin + static_cast<std::int32_t>(shares.size())}};
      return;
    }
  }
}

/// Position of a waiting job in the problem; invalid for others.
JobId position_of(const HorizonProblem& translated, JobId job) {
  const auto found = std::ranges::lower_bound(translated.jobs, job);
  if (found == translated.jobs.end() || *found != job) return {};
  return JobId(static_cast<std::size_t>(found - translated.jobs.begin()));
}

/// The pieces, lower by `less` for completions until `until`, higher by `more` after it.
/// @pre the first piece begins before `until`
std::vector<CostPiece> with_step(std::span<const CostPiece> pieces, Seconds until, double less,
                                 double more) {
  const auto later =
      std::ranges::find_if(pieces, [&](const CostPiece& piece) { return piece.after >= until; });
  std::vector<CostPiece> result(pieces.begin(), later);
  const CostPiece holds = result.back();
  for (CostPiece& piece : result) piece.cost -= less;
  if (later == pieces.end() || later->after > until) {
    const double rise = holds.slope * static_cast<double>(until - holds.after);
    result.push_back({.after = until, .cost = holds.cost + rise + more, .slope = holds.slope});
  }
  for (auto piece = later; piece != pieces.end(); ++piece) {
    result.push_back(*piece);
    result.back().cost += more;
  }
  return result;
}

/// What the job is worth, or what its delay over the horizon costs.
double worth_of(const Problem& problem, const horizon::Job& job, const model::Horizon& horizon) {
  double worth = 0.0;
  for (const Option& option : problem.options_of(job)) {
    const CostPiece& first = problem.cost_of(option).front();
    worth = std::max(worth, model::minimised(horizon.objective)
                                ? first.slope * static_cast<double>(horizon.length)
                                : -first.cost);
  }
  return worth;
}

}  // namespace

std::vector<PromisedStart> promised_starts(const InstanceView& instance,
                                           const model::RawHorizonPlan& earlier) {
  const IdsByName<JobId> jobs(instance.workload.tables().job_names);
  const IdsByName<MachineId> machines(instance.cluster.machine_names);
  std::vector<PromisedStart> promises;
  for (std::size_t p = 0; p < earlier.plan.placements.size(); ++p) {
    const model::RawPlacement& raw = earlier.plan.placements[p];
    const JobId job = jobs.of(raw.job);
    const auto end = p < earlier.ends.size() ? earlier.ends[p] : std::nullopt;
    if (!job.valid() || !end || raw.start < earlier.now || *end <= raw.start) continue;
    promises.push_back({.job = job,
                        .start = raw.start,
                        .end = *end,
                        .tasks = tasks_of(instance, job, raw, machines)});
  }
  std::ranges::stable_sort(promises, {}, &PromisedStart::job);
  const auto repeated = std::ranges::unique(promises, {}, &PromisedStart::job);
  promises.erase(repeated.begin(), repeated.end());
  return promises;
}

horizon::Plan starts_to_keep(const HorizonProblem& translated,
                             const std::vector<PromisedStart>& promises) {
  horizon::Plan plan;
  plan.starts.resize(translated.problem.jobs.size());
  const KeptStarts starts(translated);
  for (const PromisedStart& promise : promises) {
    const JobId position = position_of(translated, promise.job);
    if (!position.valid() || promise.tasks.empty()) continue;
    const horizon::Job& job = translated.problem.jobs[position.index()];
    if (promise.start >= job.release) starts.add(position, promise, plan);
  }
  return plan;
}

Problem with_promises(const HorizonProblem& translated, const model::Horizon& horizon,
                      const std::vector<PromisedStart>& promises, std::optional<double> price) {
  Problem problem = translated.problem;
  const bool minimised = model::minimised(horizon.objective);
  double all = 1.0;
  for (const horizon::Job& job : problem.jobs) all += 2.0 * worth_of(problem, job, horizon);
  for (const PromisedStart& promise : promises) {
    const JobId position = position_of(translated, promise.job);
    if (!position.valid()) continue;
    const horizon::Job& job = problem.jobs[position.index()];
    if (promise.start < job.release) continue;  // broken in any case
    const double until = static_cast<double>(promise.start - horizon.now);
    const double near = std::max(0.0, 1.0 - until / static_cast<double>(horizon.length));
    const double broken = price ? *price * near * worth_of(problem, job, horizon) : all;
    for (auto o = job.options.begin; o < job.options.end; ++o) {
      Option& option = problem.options[static_cast<std::size_t>(o)];
      const auto pieces = with_step(problem.cost_of(option), promise.start + option.duration,
                                    minimised ? 0.0 : broken, minimised ? broken : 0.0);
      option.cost.begin = static_cast<std::int32_t>(problem.cost_pieces.size());
      problem.cost_pieces.insert(problem.cost_pieces.end(), pieces.begin(), pieces.end());
      option.cost.end = static_cast<std::int32_t>(problem.cost_pieces.size());
    }
  }
  return problem;
}

namespace {

/// Tells what is in the way of promised starts.
class Obstacles {
 public:
  Obstacles(const InstanceView& instance, const model::HorizonPlan& plan)
      : instance_(instance), plan_(plan) {
    for (std::size_t p = 0; p < plan.placements.size(); ++p) {
      for (const model::TaskPlacement& task : plan.placements[p].tasks) {
        on_machine_[task.machine].push_back(p);
      }
    }
  }

  [[nodiscard]] std::string of(const PromisedStart& promise) const {
    if (promise.start < plan_.horizon.now) return "that time has passed";
    if (promise.tasks.empty()) return "a machine or task group of it is no longer there";
    const model::TimeRules& rules = instance_.workload.time_of(instance_.workload.job(promise.job));
    if (promise.start < rules.not_before) return "not_before is later now";
    for (const model::Dependency& d : instance_.workload.dependencies_of(promise.job)) {
      if (end_of(d.after) > promise.start) return "job " + name_of(d.after) + " ends later";
    }
    for (const model::TaskPlacement& task : promise.tasks) {
      std::string why = on(task.machine, promise);
      if (!why.empty()) return why;
    }
    return "other jobs are worth more";
  }

 private:
  [[nodiscard]] std::string name_of(JobId job) const {
    return std::string(instance_.workload.tables().job_names[job.index()]);
  }

  [[nodiscard]] std::int64_t end_of(JobId job) const {
    const auto found =
        std::ranges::lower_bound(plan_.placements, job, {}, &model::JobPlacement::job);
    if (found != plan_.placements.end() && found->job == job) {
      return plan_.ends[static_cast<std::size_t>(found - plan_.placements.begin())];
    }
    const model::Job& record = instance_.workload.job(job);
    return record.running >= 0 ? running_until(instance_, plan_.horizon, record) : model::kNever;
  }

  [[nodiscard]] std::string on(MachineId machine, const PromisedStart& promise) const {
    const std::string where =
        "machine " + std::string(instance_.cluster.machine_names[machine.index()]);
    if (instance_.cluster.state_of(machine) != model::MachineState::up) return where + " is not up";
    for (const model::Window& window : instance_.cluster.windows) {
      if (window.to <= promise.start || promise.end <= window.from) continue;
      const bool closes = std::ranges::any_of(window.machines, [&](const model::MachineRange& r) {
        return r.first <= machine.value() && machine.value() < r.end;
      });
      if (closes) return where + " is closed from " + std::to_string(window.from);
    }
    const auto found = on_machine_.find(machine);
    if (found == on_machine_.end()) return {};
    for (const std::size_t p : found->second) {
      const model::JobPlacement& other = plan_.placements[p];
      if (other.job == promise.job || plan_.ends[p] <= promise.start) continue;
      if (other.start < promise.end) return "for job " + name_of(other.job) + " on " + where;
    }
    return {};
  }

  InstanceView instance_;
  const model::HorizonPlan& plan_;
  std::map<MachineId, std::vector<std::size_t>> on_machine_;  ///< positions of placements
};

}  // namespace

std::vector<model::Promise> promises_of(const InstanceView& instance,
                                        const model::HorizonPlan& plan,
                                        const std::vector<PromisedStart>& promises) {
  const Obstacles obstacles(instance, plan);
  std::vector<model::Promise> result;
  for (const PromisedStart& promise : promises) {
    const auto found =
        std::ranges::lower_bound(plan.placements, promise.job, {}, &model::JobPlacement::job);
    const bool starts = found != plan.placements.end() && found->job == promise.job &&
                        found->start <= promise.start;
    const bool kept = starts || instance.workload.job(promise.job).running >= 0;
    result.push_back({.job = promise.job,
                      .start = promise.start,
                      .kept = kept,
                      .reason = kept ? "" : obstacles.of(promise)});
  }
  return result;
}

}  // namespace berth::pipeline
