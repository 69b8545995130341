// SPDX-License-Identifier: Apache-2.0
#include "horizon/divided_limits.hpp"

#include "horizon/machine_shards.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "berth/horizon/device_shares.hpp"
#include "berth/horizon/problem_builder.hpp"

namespace berth::solver::horizon_plan {

using berth::horizon::CapacityStep;
using berth::horizon::kNever;
using berth::horizon::LicenseUse;
using berth::horizon::Option;
using berth::horizon::Plan;
using berth::horizon::Problem;
using berth::horizon::Seconds;

namespace {

using Changes = std::map<Seconds, std::int64_t>;
using Steps = std::vector<CapacityStep>;

std::int64_t milli_of(const Option& option) {
  return model::kGpuMilli * option.gpus + option.share_milli;
}

/// Calls visit(limit, amount) for the quotas of an option, or for its licenses.
template <class Visit>
void visit_quotas(const Problem& problem, const Option& option, const Visit& visit) {
  for (const std::int32_t quota : problem.quotas_of(option)) {
    visit(static_cast<std::size_t>(quota), milli_of(option));
  }
}
template <class Visit>
void visit_licenses(const Problem& problem, const Option& option, const Visit& visit) {
  for (const LicenseUse& use : problem.licenses_of(option)) {
    visit(static_cast<std::size_t>(use.license), use.count);
  }
}

/// One kind of limits: what a plan uses of each over time.
template <class VisitLimits>
std::vector<Changes> use_of(const Problem& problem, const Plan& plan, std::size_t limits,
                            const VisitLimits& visit) {
  std::vector<Changes> changes(limits);
  for (std::size_t j = 0; j < plan.starts.size(); ++j) {
    const auto& start = plan.starts[j];
    if (!start.placed()) continue;
    const Option& option =
        problem.options_of(problem.jobs[j])[static_cast<std::size_t>(start.option)];
    visit(problem, option, [&](std::size_t limit, std::int64_t amount) {
      changes[limit][start.start] += amount;
      changes[limit][start.start + option.duration] -= amount;
    });
  }
  return changes;
}

/// By limit: work of the jobs with an option that uses it.
template <class VisitLimits>
std::vector<double> work_by_limit(const Problem& problem, std::size_t limits,
                                  const VisitLimits& visit) {
  std::vector<double> work(limits, 0.0);
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    const auto options = problem.options_of(problem.jobs[j]);
    if (options.empty()) continue;
    visit(problem, options.front(),
          [&](std::size_t limit, std::int64_t) { work[limit] += work_of(problem, JobId(j)); });
  }
  return work;
}

/// floor(amount x share), whole units; 0 for negative amounts.
std::int64_t share_of(std::int64_t amount, double share, std::int64_t unit) {
  if (amount <= 0) return 0;
  return static_cast<std::int64_t>(std::floor(static_cast<double>(amount / unit) * share)) * unit;
}

/// The steps of one limit for each shard.
std::vector<Steps> divided(const Steps& limit, const Changes& first, std::span<const Changes> used,
                           std::span<const double> work, std::int64_t unit) {
  const Seconds now = limit.front().from;
  Changes left;
  std::int64_t before = 0;
  for (const CapacityStep& step : limit) {
    left[step.from] += step.gpus - before;
    before = step.gpus;
  }
  for (const auto& [time, change] : first) left[time] -= change;
  for (const Changes& changes : used) {
    for (const auto& [time, change] : changes) left[time] -= change;
  }
  double all = 0.0;
  for (const double of : work) all += of;
  std::vector<Steps> result;
  for (std::size_t s = 0; s < used.size(); ++s) {
    Changes changes = used[s];
    std::int64_t amount = 0, share = 0;
    for (const auto& [time, change] : left) {
      amount += change;
      const std::int64_t next = all > 0.0 ? share_of(amount, work[s] / all, unit) : 0;
      changes[time] += next - share;
      share = next;
    }
    result.push_back(berth::horizon::steps_from(now, 0, changes));
  }
  return result;
}

/// Divides the limits of one kind; `set(task, limit, steps)` stores a shard's part.
template <class VisitLimits, class Set>
void divide_steps(const Problem& problem, const std::vector<Steps>& limits, const Plan& over_all,
                  std::span<HorizonShardTask> tasks, std::int64_t unit, const VisitLimits& visit,
                  const Set& set) {
  const auto first = use_of(problem, over_all, limits.size(), visit);
  std::vector<std::vector<Changes>> used;
  std::vector<std::vector<double>> work;
  for (const HorizonShardTask& task : tasks) {
    const Problem& part = task.jobs.problem;
    used.push_back(use_of(part, task.planned ? task.plan : Plan{}, limits.size(), visit));
    work.push_back(work_by_limit(part, limits.size(), visit));
  }
  for (std::size_t l = 0; l < limits.size(); ++l) {
    std::vector<Changes> used_here;
    std::vector<double> work_here;
    for (std::size_t s = 0; s < tasks.size(); ++s) {
      used_here.push_back(used[s][l]);
      work_here.push_back(work[s][l]);
    }
    auto parts = divided(limits[l], first[l], used_here, work_here, unit);
    for (std::size_t s = 0; s < tasks.size(); ++s) set(tasks[s].jobs.problem, l, parts[s]);
  }
}

/// GPU-seconds until Problem::budgets_end, as BudgetsLeft counts them.
std::int64_t gpu_seconds(const Problem& problem, const Option& option, Seconds start) {
  const Seconds end = std::min(start + option.duration, problem.budgets_end);
  const Seconds span = std::max<Seconds>(0, end - start);
  return (milli_of(option) * span + model::kGpuMilli - 1) / model::kGpuMilli;
}

/// What a plan uses of each budget.
std::vector<std::int64_t> budgets_used(const Problem& problem, const Plan& plan) {
  std::vector<std::int64_t> used(problem.budgets.size(), 0);
  for (std::size_t j = 0; j < plan.starts.size(); ++j) {
    const auto& start = plan.starts[j];
    if (!start.placed()) continue;
    const Option& option =
        problem.options_of(problem.jobs[j])[static_cast<std::size_t>(start.option)];
    for (const std::int32_t budget : problem.budgets_of(option)) {
      used[static_cast<std::size_t>(budget)] += gpu_seconds(problem, option, start.start);
    }
  }
  return used;
}

void divide_budgets(const Problem& problem, const Plan& over_all,
                    std::span<HorizonShardTask> tasks) {
  const auto visit = [](const Problem& of, const Option& option, const auto& add) {
    for (const std::int32_t budget : of.budgets_of(option)) {
      add(static_cast<std::size_t>(budget), std::int64_t{1});
    }
  };
  std::vector<std::int64_t> left = problem.budgets;
  const auto take = [&](const std::vector<std::int64_t>& used) {
    for (std::size_t b = 0; b < left.size(); ++b) left[b] -= used[b];
  };
  take(budgets_used(problem, over_all));
  std::vector<std::vector<std::int64_t>> used;
  std::vector<std::vector<double>> work;
  std::vector<double> all(left.size(), 0.0);
  for (const HorizonShardTask& task : tasks) {
    const Problem& part = task.jobs.problem;
    take(used.emplace_back(budgets_used(part, task.planned ? task.plan : Plan{})));
    work.push_back(work_by_limit(part, left.size(), visit));
    for (std::size_t b = 0; b < left.size(); ++b) all[b] += work.back()[b];
  }
  for (std::size_t s = 0; s < tasks.size(); ++s) {
    for (std::size_t b = 0; b < left.size(); ++b) {
      const double share = all[b] > 0.0 ? work[s][b] / all[b] : 0.0;
      tasks[s].jobs.problem.budgets[b] = used[s][b] + share_of(left[b], share, 1);
    }
  }
}

}  // namespace

void divide_limits(const Problem& problem, const Plan& over_all,
                   std::span<HorizonShardTask> tasks) {
  const std::int64_t unit = has_shares(problem) ? 1 : model::kGpuMilli;
  divide_steps(
      problem, problem.quotas_milli, over_all, tasks, unit,
      [](const auto&... of) { visit_quotas(of...); },
      [](Problem& part, std::size_t q, const Steps& steps) {
        part.quotas_milli[q] = steps;
        part.quotas[q] = steps;
        for (CapacityStep& step : part.quotas[q]) step.gpus /= model::kGpuMilli;  // >= 0
      });
  divide_steps(
      problem, problem.licenses, over_all, tasks, 1,
      [](const auto&... of) { visit_licenses(of...); },
      [](Problem& part, std::size_t l, const Steps& steps) { part.licenses[l] = steps; });
  divide_budgets(problem, over_all, tasks);
}

}  // namespace berth::solver::horizon_plan
