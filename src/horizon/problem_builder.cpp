// SPDX-License-Identifier: Apache-2.0
#include "berth/horizon/problem_builder.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/horizon/dependency_graph.hpp"
#include "berth/horizon/device_shares.hpp"

namespace berth::horizon {
namespace {

std::uint64_t all_devices(std::int32_t gpus) {
  return gpus >= 64 ? ~0ULL : (1ULL << static_cast<unsigned>(gpus)) - 1;
}

/// Whole GPUs of thousandths, which may be negative.
Gpus floor_to_gpus(Gpus milli) {
  return (milli - (milli < 0 ? model::kGpuMilli - 1 : 0)) / model::kGpuMilli;
}

}  // namespace

PoolId ProblemBuilder::add_pool(CurveId curve, std::int32_t machines,
                                std::int32_t gpus_per_machine) {
  const auto first = static_cast<std::int32_t>(problem_.machines.size());
  problem_.pools.push_back({.curve = curve, .machines = {first, first}, .capacity = {}});
  problem_.curves = std::max(problem_.curves, curve.index() + 1);
  add_machines(machines, gpus_per_machine);
  return PoolId(problem_.pools.size() - 1);
}

void ProblemBuilder::add_machines(std::int32_t machines, std::int32_t gpus_per_machine) {
  BERTH_EXPECT(!problem_.pools.empty() && machines >= 0);
  BERTH_EXPECT(gpus_per_machine >= 0 && gpus_per_machine <= 64);
  const PoolId pool(problem_.pools.size() - 1);
  problem_.machines.insert(problem_.machines.end(), static_cast<std::size_t>(machines),
                           {.pool = pool, .gpus = gpus_per_machine});
  problem_.pools.back().machines.end += machines;
}

MachineId ProblemBuilder::add_machine(const Machine& machine) {
  add_machines(1, machine.gpus);
  Machine& added = problem_.machines.back();
  added.capacity = machine.capacity;
  added.rack = machine.rack;
  added.pod = machine.pod;
  added.gpu_slices = machine.gpu_slices;
  added.limits = machine.limits;
  return MachineId(problem_.machines.size() - 1);
}

void ProblemBuilder::add_outage(MachineId machine, Seconds from, Seconds to, std::uint64_t devices,
                                const model::Resources& taken) {
  add_outage({.machine = machine, .from = from, .to = to, .devices = devices, .taken = taken});
}

void ProblemBuilder::add_outage(const Outage& outage) {
  BERTH_EXPECT(outage.from < outage.to);
  const std::uint64_t all = all_devices(problem_.machines[outage.machine.index()].gpus);
  BERTH_EXPECT(outage.from <= problem_.now || (outage.devices & all) == all);
  problem_.outages.push_back(outage);
  problem_.outages.back().devices &= all;
}

void ProblemBuilder::spread_option(const TaskSpread& spread) {
  problem_.options.back().spread = static_cast<std::int32_t>(problem_.spreads.size());
  problem_.spreads.push_back(spread);
}

void ProblemBuilder::connect_option(const Traffic& traffic) {
  problem_.options.back().traffic = static_cast<std::int32_t>(problem_.traffics.size());
  problem_.traffics.push_back(traffic);
}

void ProblemBuilder::license_option(std::span<const LicenseUse> uses) {
  IndexRange& range = problem_.options.back().licenses;
  range.begin = static_cast<std::int32_t>(problem_.option_licenses.size());
  problem_.option_licenses.insert(problem_.option_licenses.end(), uses.begin(), uses.end());
  range.end = static_cast<std::int32_t>(problem_.option_licenses.size());
}

std::int32_t ProblemBuilder::add_license(std::vector<CapacityStep> steps) {
  problem_.licenses.push_back(std::move(steps));
  return static_cast<std::int32_t>(problem_.licenses.size()) - 1;
}

std::int32_t ProblemBuilder::add_place_limit(std::vector<CapacityStep> steps) {
  problem_.place_limits.push_back(std::move(steps));
  return static_cast<std::int32_t>(problem_.place_limits.size()) - 1;
}

void ProblemBuilder::add_neighbours(std::vector<Neighbours> neighbours) {
  problem_.neighbours = std::move(neighbours);
}

void ProblemBuilder::restrict_option(model::Level domain, std::span<const std::int32_t> quotas) {
  Option& option = problem_.options.back();
  option.domain = domain;
  option.quotas.begin = static_cast<std::int32_t>(problem_.option_quotas.size());
  problem_.option_quotas.insert(problem_.option_quotas.end(), quotas.begin(), quotas.end());
  option.quotas.end = static_cast<std::int32_t>(problem_.option_quotas.size());
}

void ProblemBuilder::charge_option(std::span<const std::int32_t> budgets) {
  Option& option = problem_.options.back();
  option.budgets.begin = static_cast<std::int32_t>(problem_.option_budgets.size());
  problem_.option_budgets.insert(problem_.option_budgets.end(), budgets.begin(), budgets.end());
  option.budgets.end = static_cast<std::int32_t>(problem_.option_budgets.size());
}

std::int32_t ProblemBuilder::add_budget(std::int64_t gpu_seconds, Seconds end) {
  problem_.budgets.push_back(gpu_seconds);
  problem_.budgets_end = end;
  return static_cast<std::int32_t>(problem_.budgets.size()) - 1;
}

std::int32_t ProblemBuilder::add_quota(std::vector<CapacityStep> milli) {
  std::vector<CapacityStep>& gpus = problem_.quotas.emplace_back(milli);
  for (CapacityStep& step : gpus) step.gpus = floor_to_gpus(step.gpus);
  problem_.quotas_milli.push_back(std::move(milli));
  return static_cast<std::int32_t>(problem_.quotas.size()) - 1;
}

PoolSetId ProblemBuilder::add_pool_set(std::span<const PoolId> pools) {
  problem_.pool_sets.emplace_back(pools.begin(), pools.end());
  std::ranges::sort(problem_.pool_sets.back());
  return PoolSetId(problem_.pool_sets.size() - 1);
}

JobId ProblemBuilder::add_job(Seconds release, bool required, Seconds deadline) {
  const auto first = static_cast<std::int32_t>(problem_.options.size());
  problem_.jobs.push_back({.release = std::max(release, problem_.now),
                           .deadline = deadline,
                           .required = required,
                           .options = {first, first}});
  return JobId(problem_.jobs.size() - 1);
}

IndexRange ProblemBuilder::add_cost(std::span<const CostPiece> pieces) {
  const auto first = static_cast<std::int32_t>(problem_.cost_pieces.size());
  problem_.cost_pieces.insert(problem_.cost_pieces.end(), pieces.begin(), pieces.end());
  return {first, static_cast<std::int32_t>(problem_.cost_pieces.size())};
}

void ProblemBuilder::add_option(PoolSetId pools, Seconds duration, std::span<const TaskGroup> tasks,
                                IndexRange cost) {
  BERTH_EXPECT(!problem_.jobs.empty() && duration >= 1 && cost.size() > 0);
  BERTH_EXPECT(cost.of(problem_.cost_pieces).front().after <= problem_.jobs.back().release);
  const auto first = static_cast<std::int32_t>(problem_.task_groups.size());
  Option option{.pools = pools, .duration = duration, .tasks = {first, first}, .cost = cost};
  for (const TaskGroup& group : tasks) {
    problem_.task_groups.push_back(group);
    option.gpus += static_cast<Gpus>(group.tasks) * group.gpus;
    option.share_milli += std::int64_t{group.tasks} * group.milli;
  }
  option.rent = rent_of_gpus(option.gpus, option.share_milli);
  option.tasks.end = static_cast<std::int32_t>(problem_.task_groups.size());
  problem_.options.push_back(option);
  problem_.jobs.back().options.end = static_cast<std::int32_t>(problem_.options.size());
}

void ProblemBuilder::add_dependency(JobId job, JobId after) {
  problem_.dependencies.push_back({.job = job, .after = after});
}

std::vector<CapacityStep> steps_from(Seconds now, Gpus first,
                                     const std::map<Seconds, Gpus>& changes) {
  std::vector<CapacityStep> steps{{.from = now, .gpus = first}};
  for (const auto& [from, change] : changes) {
    if (change == 0) continue;
    const Gpus gpus = steps.back().gpus + change;
    if (from > steps.back().from) steps.push_back({.from = from, .gpus = gpus});
    steps.back().gpus = gpus;
  }
  return steps;
}

namespace {

/// Earliest end of the job on any cluster.
Seconds earliest_end(const Problem& problem, const Job& job) {
  Seconds shortest = kNever;
  for (const Option& option : problem.options_of(job)) {
    shortest = std::min(shortest, option.duration);
  }
  return std::min(job.release + shortest, kNever);
}

void release_after_dependencies(Problem& problem) {
  std::ranges::sort(problem.dependencies);
  const DependencyGraph graph(problem.jobs.size(), problem.dependencies);
  if (graph.empty()) return;
  std::vector<JobId> all;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) all.emplace_back(j);
  for (const JobId id : graph.ordered(all)) {
    Job& job = problem.jobs[id.index()];
    for (const JobId before : graph.before(id)) {
      const Seconds end = earliest_end(problem, problem.jobs[before.index()]);
      if (end >= kNever) job.options.end = job.options.begin;  // that one never runs
      job.release = std::max(job.release, end);
    }
  }
}

/// Thousandths that outages leave at a time of GPUs of which they take a part.
Gpus parts_left(const std::vector<const Outage*>& outages, Seconds time) {
  Gpus left = 0;
  for (const std::int32_t device : partly_taken_devices(outages)) {
    Gpus taken = 0;
    for (const Outage* outage : outages) {
      const bool now = outage->from <= time && time < outage->to;
      if (now && ((outage->devices >> device) & 1) != 0) taken += outage->milli;
    }
    if (taken > 0 && taken < model::kGpuMilli) left += model::kGpuMilli - taken;
  }
  return left;
}

/// Changes of each place limit.
using LimitChanges = std::vector<std::map<Seconds, Gpus>>;

/// Free GPUs of the machines beside spare ones, in thousandths.
void add_free_gpus(const Problem& problem, LimitChanges& spare) {
  const auto of = [&](MachineId machine) { return problem.machines[machine.index()].limits.spare; };
  for (std::size_t m = 0; m < problem.machines.size(); ++m) {
    if (of(MachineId(m)) < 0) continue;
    spare[static_cast<std::size_t>(of(MachineId(m)))][problem.now] +=
        model::kGpuMilli * problem.machines[m].gpus;
  }
  for (const ClosedGpus& closed : closed_gpus(problem)) {
    if (of(closed.machine) < 0) continue;
    Gpus before = 0;
    for (const CapacityStep& step : closed.steps) {
      spare[static_cast<std::size_t>(of(closed.machine))][step.from] -=
          model::kGpuMilli * (step.gpus - before);
      before = step.gpus;
    }
  }
}

/// The parts of GPUs that are left, and what a pool is worth with them.
void add_parts(Problem& problem, LimitChanges& spare) {
  std::vector<std::map<Seconds, Gpus>> changes(problem.pools.size());
  for (const auto& [machine, outages] : outages_with_shares(problem)) {
    std::map<Seconds, Gpus> at;
    for (const Outage* outage : outages) {
      at[std::max(problem.now, outage->from)];
      at[std::max(problem.now, outage->to)];
    }
    const Machine& of = problem.machines[machine.index()];
    Gpus before = 0;
    for (auto& [time, left] : at) {
      left = parts_left(outages, time);
      changes[of.pool.index()][time] += left - before;
      if (of.limits.spare >= 0) {
        spare[static_cast<std::size_t>(of.limits.spare)][time] += left - before;
      }
      before = left;
    }
  }
  for (std::size_t p = 0; p < problem.pools.size(); ++p) {
    Pool& pool = problem.pools[p];
    if (changes[p].empty()) continue;
    pool.parts = steps_from(problem.now, 0, changes[p]);
    std::map<Seconds, Gpus> worth;
    const auto add = [&](const std::vector<CapacityStep>& steps, auto worth_of) {
      Gpus before = 0;
      for (const CapacityStep& step : steps) {
        worth[step.from] += worth_of(step.gpus) - before;
        before = worth_of(step.gpus);
      }
    };
    add(pool.capacity, [](Gpus gpus) { return kRentUnit * gpus; });
    add(pool.parts, [](Gpus milli) { return (kRentUnit * milli + 999) / 1000; });
    pool.worth = steps_from(problem.now, 0, worth);
  }
}

}  // namespace

Problem ProblemBuilder::build() {
  release_after_dependencies(problem_);
  std::vector<std::map<Seconds, Gpus>> changes(problem_.pools.size());
  for (const Machine& machine : problem_.machines) {
    changes[machine.pool.index()][problem_.now] += machine.gpus;
  }
  for (const ClosedGpus& closed : closed_gpus(problem_)) {
    auto& of_pool = changes[problem_.machines[closed.machine.index()].pool.index()];
    Gpus before = 0;
    for (const CapacityStep& step : closed.steps) {
      of_pool[step.from] -= step.gpus - before;
      before = step.gpus;
    }
  }
  for (std::size_t p = 0; p < problem_.pools.size(); ++p) {
    problem_.pools[p].capacity = steps_from(problem_.now, 0, changes[p]);
  }
  LimitChanges spare(problem_.place_limits.size());
  add_free_gpus(problem_, spare);
  if (has_shares(problem_)) add_parts(problem_, spare);
  for (std::size_t l = 0; l < spare.size(); ++l) {
    std::vector<CapacityStep>& steps = problem_.place_limits[l];
    if (!spare[l].empty()) steps = steps_from(problem_.now, steps.front().gpus, spare[l]);
  }
  return std::move(problem_);
}

CostPiece flow_cost(Seconds release, double weight) {
  return {.after = release, .cost = 0.0, .slope = weight};
}

}  // namespace berth::horizon
