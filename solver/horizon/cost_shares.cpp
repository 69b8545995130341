// SPDX-License-Identifier: Apache-2.0
#include "horizon/cost_shares.hpp"

#include "horizon/cost_table.hpp"
#include "horizon/start_prices.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

#include "berth/horizon/dependency_graph.hpp"

namespace berth::solver::horizon_plan {
namespace {

using berth::horizon::CostShare;
using berth::horizon::DependencyGraph;
using berth::horizon::Job;
using berth::horizon::kShareUnit;
using berth::horizon::Option;
using berth::horizon::Plan;
using berth::horizon::Problem;

/// A job whose costs, with those that it bears, have more breakpoints passes nothing on.
constexpr std::size_t kMostBreakpoints = 64;

std::vector<JobId> all_jobs(const Problem& problem) {
  std::vector<JobId> jobs;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) jobs.emplace_back(j);
  return jobs;
}

Seconds shortest(const Problem& problem, const Job& job) {
  Seconds least = berth::horizon::kNever;
  for (const Option& option : problem.options_of(job)) least = std::min(least, option.duration);
  return least;
}

/// The job's release is later than the other one can end.
bool waits_longer(const Problem& problem, const Job& job, const Job& before) {
  return std::max(problem.now, job.release) > before.release + shortest(problem, before);
}

/// Costs of all options of the jobs, of which shares are passed on.
class SharedCosts {
 public:
  explicit SharedCosts(const Problem& problem) : problem_(problem), tables_(problem.jobs.size()) {}

  /// @pre `job` has got all that it bears
  void pass(const CostShare& share) {
    const double part = static_cast<double>(share.share) / static_cast<double>(kShareUnit);
    const Job& job = problem_.jobs[share.job.index()];
    const auto options = problem_.options_of(job);
    std::vector<CostTable>& own = tables_of(share.job);
    std::vector<CostTable> by_starts;
    for (std::size_t k = 0; k < own.size(); ++k) {
      by_starts.push_back(by_start(own[k], options[k].duration));
    }
    CostTable passed = least_of(by_starts, problem_.now);
    const Job& bears = problem_.jobs[share.after.index()];
    const Seconds release = std::max(problem_.now, job.release);
    for (std::size_t k = 0; k < own.size(); ++k) {
      const double more = part * least_difference(by_starts[k], passed, release);
      own[k] = scaled(std::move(own[k]), 1.0 - part);
      for (auto& piece : own[k]) piece.cost += more;
    }
    if (waits_longer(problem_, job, bears)) passed = constant_until(passed, release);
    passed = scaled(std::move(passed), part);
    for (CostTable& table : tables_of(share.after)) table = sum(table, passed);
  }

  Problem shared() const {
    Problem result = problem_;
    for (std::size_t j = 0; j < tables_.size(); ++j) {
      for (std::size_t k = 0; k < tables_[j].size(); ++k) {
        const auto first = static_cast<std::int32_t>(result.cost_pieces.size());
        result.cost_pieces.insert(result.cost_pieces.end(), tables_[j][k].begin(),
                                  tables_[j][k].end());
        const auto at = static_cast<std::size_t>(problem_.jobs[j].options.begin) + k;
        result.options[at].cost = {first, static_cast<std::int32_t>(result.cost_pieces.size())};
      }
    }
    return result;
  }

 private:
  std::vector<CostTable>& tables_of(JobId job) {
    std::vector<CostTable>& tables = tables_[job.index()];
    if (!tables.empty()) return tables;
    for (const Option& option : problem_.options_of(problem_.jobs[job.index()])) {
      tables.push_back(by_start(problem_.cost_of(option), 0));
    }
    return tables;
  }

  const Problem& problem_;
  std::vector<std::vector<CostTable>> tables_;  ///< by JobId and option; empty: the problem's own
};

/// Blocks of jobs along the forest, the densest merged into its parent first (pool adjacent
/// violators; Horn 1972).
class DensityBlocks {
 public:
  DensityBlocks(std::vector<JobId> parents, std::vector<double> cost, std::vector<double> work)
      : parents_(std::move(parents)), cost_(std::move(cost)), work_(std::move(work)) {
    for (std::size_t j = 0; j < parents_.size(); ++j) first_.emplace_back(j);
    changes_.assign(parents_.size(), 0);
    for (const JobId job : first_) push(job);
    while (!queue_.empty()) {
      const Entry top = queue_.top();
      queue_.pop();
      if (first_of(top.job) != top.job || top.changes != changes_[top.job.index()]) continue;
      const JobId above = first_of(parents_[top.job.index()]);
      if (density(top.job) <= density(above)) continue;
      first_[top.job.index()] = above;
      cost_[above.index()] += cost_[top.job.index()];
      work_[above.index()] += work_[top.job.index()];
      ++changes_[above.index()];
      push(above);
    }
  }

  /// The first job of the job's block.
  JobId first_of(JobId job) {
    while (first_[job.index()] != job) {
      first_[job.index()] = first_[first_[job.index()].index()];
      job = first_[job.index()];
    }
    return job;
  }
  /// Cost per GPU-second of the block of a first job.
  [[nodiscard]] double density(JobId first) const {
    return cost_[first.index()] / work_[first.index()];
  }

 private:
  struct Entry {
    double density;
    JobId job;
    int changes;
    bool operator<(const Entry& other) const {
      return density != other.density ? density < other.density : other.job < job;
    }
  };
  void push(JobId job) {
    if (!parents_[job.index()].valid()) return;
    queue_.push({density(job), job, changes_[job.index()]});
  }

  std::vector<JobId> parents_;
  std::vector<double> cost_, work_;  ///< by first job: of its block
  std::vector<JobId> first_;
  std::vector<int> changes_;
  std::priority_queue<Entry> queue_;
};

/// By JobId: the job that it waits for which completes last, those without a place after all
/// others; invalid where it waits for none, or one of the two cannot run.
std::vector<JobId> last_before(const Problem& problem, const Plan& plan,
                               const DependencyGraph& graph) {
  std::vector<JobId> result(problem.jobs.size());
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    Seconds last = problem.now;
    if (problem.jobs[j].options.size() == 0) continue;
    for (const JobId before : graph.before(JobId(j))) {
      const Job& job = problem.jobs[before.index()];
      const bool bears = job.required || !problem.jobs[j].required;
      if (job.options.size() == 0 || !bears) continue;
      const auto& start = plan.starts[before.index()];
      const Seconds end = start.placed() ? end_of(problem, before, start) : berth::horizon::kNever;
      if (end <= last) continue;
      last = end;
      result[j] = before;
    }
  }
  return result;
}

/// How many breakpoints a job's costs have, with those that it bears.
class BreakpointCount {
 public:
  explicit BreakpointCount(const Problem& problem) : problem_(problem) {
    for (const Job& job : problem.jobs) {
      std::size_t count = 0;
      for (const Option& option : problem.options_of(job)) {
        count += problem.cost_of(option).size() - 1;
      }
      counts_.push_back(count);
    }
  }
  /// Counts what `after` bears; false when the job has too many.
  bool pass(JobId job, JobId after) {
    if (counts_[job.index()] > kMostBreakpoints) return false;
    const Job& bears = problem_.jobs[after.index()];
    counts_[after.index()] += bears.options.size() *
                              (counts_[job.index()] +
                               (waits_longer(problem_, problem_.jobs[job.index()], bears) ? 1 : 0));
    return true;
  }

 private:
  const Problem& problem_;
  std::vector<std::size_t> counts_;
};

}  // namespace

Problem with_shared_costs(const Problem& problem, std::span<const CostShare> shares) {
  SharedCosts costs(problem);
  std::vector<std::vector<CostShare>> of_job(problem.jobs.size());
  for (const CostShare& share : shares) of_job[share.job.index()].push_back(share);
  const DependencyGraph graph(problem.jobs.size(), problem.dependencies);
  const std::vector<JobId> order = graph.ordered(all_jobs(problem));
  for (auto job = order.rbegin(); job != order.rend(); ++job) {
    for (const CostShare& share : of_job[job->index()]) costs.pass(share);
  }
  return costs.shared();
}

std::vector<CostShare> shares_by_density(const Problem& problem, const Plan& plan) {
  if (problem.dependencies.empty()) return {};
  const DependencyGraph graph(problem.jobs.size(), problem.dependencies);
  const std::vector<JobId> parents = last_before(problem, plan, graph);
  std::vector<double> cost, work;
  for (const Job& job : problem.jobs) {
    double least = kInfinity;
    for (const Option& option : problem.options_of(job)) {
      least = std::min(least, gpus_of(option) * static_cast<double>(option.duration));
    }
    cost.push_back(cost_range(problem, job, kLongDelay));
    work.push_back(least < kInfinity ? std::max(least, 1.0) : 1.0);
  }
  DensityBlocks blocks(parents, cost, work);
  std::vector<CostShare> shares;
  BreakpointCount counts(problem);
  std::vector<double> excess(problem.jobs.size(), 0.0);  // of the cost over that of the block
  const std::vector<JobId> order = graph.ordered(all_jobs(problem));
  for (auto job = order.rbegin(); job != order.rend(); ++job) {
    const std::size_t j = job->index();
    const JobId first = blocks.first_of(*job);
    if (first == *job) continue;
    excess[j] += cost[j] - blocks.density(first) * work[j];
    const double all = blocks.density(first) * work[j] + excess[j];
    const double part = excess[j] > 0.0 ? excess[j] / all : 0.0;
    const auto share = static_cast<std::int64_t>(std::floor(part * kShareUnit));
    if (share <= 0 || !counts.pass(*job, parents[j])) continue;
    shares.push_back({.job = *job, .after = parents[j], .share = std::min(share, kShareUnit)});
    excess[parents[j].index()] += excess[j];
  }
  std::ranges::sort(shares, {}, &CostShare::job);
  return shares;
}

}  // namespace berth::solver::horizon_plan
