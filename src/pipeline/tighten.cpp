// SPDX-License-Identifier: Apache-2.0
#include "tighten.hpp"

#include "branch_certificate.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "berth/certify/bound.hpp"
#include "berth/solver/branch_and_bound.hpp"

namespace berth::pipeline {
namespace {

constexpr std::int64_t kManyGpus = 4096;  ///< above: no steps by default (decision 3)
constexpr int kUsualSteps = 200;          ///< evaluations of the bound (decision 3)
constexpr std::int64_t kTreeGpus = 1024;  ///< above: no tree by default (decision 7)
constexpr int kUsualLeaves = 32;          ///< of the tree (decision 7)
/// Few jobs are coarse, up to so many GPUs (decision 50).
constexpr std::int64_t kCoarseJobs = 64, kCoarseGpus = 16384;

bool is_coarse(std::int64_t gpus, std::int64_t jobs) {
  return jobs <= kCoarseJobs && gpus <= kCoarseGpus;
}

/// Fewer evaluations hardly lower the bound by job prices, or by a tree, which is then not begun.
/// Chosen, not tuned.
constexpr std::int64_t kLeastEvaluations = 20, kLeastEvaluationsOfTree = 1000;

/// True when so many cells of tables are enough for these evaluations in a cluster of so many
/// units, > 0: one takes about the square of the units.
bool affords(std::int64_t cells, std::int64_t evaluations, std::int64_t units) {
  return units <= cells / evaluations / units;
}

/// Part of the gap that a leaf's bound may lose by prices left out of the tree. Chosen, not tuned.
constexpr double kNear = 1e-4;

bool takes_gpu(const model::WorkloadView& workload, const model::Job& job) {
  return workload.gpu_milli(job) > 0;
}

/// Highest price per GPU in each rack, which jobs without job prices pay.
std::vector<double> by_rack(const model::Cluster& cluster, const planner_model::Pools& pools,
                            std::span<const double> prices) {
  std::vector<double> rack(cluster.racks.size(), 0.0);
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    double& highest = rack[cluster.machine_rack[m].index()];
    highest = std::max(highest, prices[pools.pool_of(MachineId(m)).index()]);
  }
  return rack;
}

model::Certificate with_jobs(model::Certificate certificate, std::span<const JobId> jobs,
                             std::span<const double> prices) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    certificate.jobs.push_back({jobs[i], to_fixed(prices[i], certificate.scale_log2)});
  }
  return certificate;
}

/// The certificate's bound less `target`; 0 if the bound is not the one by prices.
double above(const model::InstanceView& instance, model::Objective objective,
             const model::Certificate& certificate, double target) {
  const certify::Bound bound = certify::upper_bound(instance, objective, certificate, {});
  const Int128 by_prices = bound.machines + bound.jobs + bound.shared;
  if (by_prices > bound.zero_price) return 0.0;
  if (model::traits(objective).gpu_milli && by_prices > bound.capacity) return 0.0;
  return std::ldexp(static_cast<double>(by_prices), -bound.scale_log2) - target;
}

struct Root {
  std::span<const JobId> jobs;
  std::span<const double> prices;
  std::span<const double> others;
};

/// The certificate with a tree of cases below `root`; nullopt if a tree cannot lower the bound.
std::optional<model::Certificate> branched(const planner_model::Valuation& valuation,
                                           const model::Certificate& certificate, const Root& root,
                                           const TightenGoal& goal,
                                           const solver::BranchOptions& options) {
  if (options.leaves <= 1 || goal.stop.requested()) return std::nullopt;
  const double far = above(valuation.instance(), valuation.objective(), certificate,
                           goal.objective / (1.0 - goal.gap));
  if (!(far > 0.0)) return std::nullopt;
  const auto tree = solver::branch_and_bound(valuation, root.jobs, root.prices, root.others,
                                             {.slack = far, .stop = goal.stop}, options);
  if (tree.leaves <= 1) return std::nullopt;
  const double tolerance = kNear * far / static_cast<double>(root.jobs.size());
  return branch_certificate(certificate, tree, tolerance);
}

/// Jobs that get job prices: of whole GPUs and not required.
std::vector<JobId> jobs_to_price(const model::InstanceView& instance) {
  std::vector<JobId> jobs = solver::whole_gpu_jobs(instance);
  std::erase_if(jobs, [&](JobId j) { return instance.workload.job(j).required; });
  return jobs;
}

}  // namespace

int usual_bound_steps(std::int64_t gpus, std::int64_t jobs) {
  return gpus <= kManyGpus || is_coarse(gpus, jobs) ? kUsualSteps : 0;
}

int usual_tree_leaves(std::int64_t gpus, std::int64_t jobs) {
  return gpus <= kTreeGpus || is_coarse(gpus, jobs) ? kUsualLeaves : 0;
}

Proof price_jobs(const planner_model::Valuation& valuation, const planner_model::Pools& pools,
                 std::span<const double> prices, Proof proof, const TightenGoal& goal,
                 const TightenOptions& options) {
  const model::InstanceView& instance = valuation.instance();
  const double slack = proof.upper_bound - goal.objective;
  if (options.job_prices.evaluations <= 0 || !(slack > goal.gap * proof.upper_bound)) return proof;
  if (goal.stop.requested()) return proof;
  const auto of_quota = [](const auto& l) { return l.kind == model::LimitKind::gpu_quota; };
  if (std::ranges::any_of(proof.certificate.limits, of_quota))
    return proof;  // quota prices would be lost
  const std::vector<JobId> jobs = jobs_to_price(instance);
  if (jobs.empty()) return proof;
  const std::vector<JobId> planned = model::planned_jobs(instance.workload);
  const auto on_gpus = static_cast<std::size_t>(std::ranges::count_if(planned, [&](JobId job) {
    return takes_gpu(instance.workload, instance.workload.job(job));
  }));
  const std::int64_t unit =
      on_gpus > jobs.size() ? 1 : solver::common_divisor(instance.workload, jobs);
  const std::int64_t units = std::max<std::int64_t>(1, instance.cluster.gpus() / unit);
  if (units > options.most_units ||
      !affords(options.job_prices.most_cells, kLeastEvaluations, units)) {
    return proof;
  }

  const auto alone = comm::Communicator::serial();
  const DistributedJudge judge(alone, instance, valuation.objective(), planned);
  const model::Certificate of_pools = judge.fitted(from_pools(pools, prices));
  const std::vector<double> profits =
      certify::job_profits(instance, valuation.objective(), of_pools);
  // The steps start at these prices: another proof may be better already.
  const double above_plan = std::max(slack, judge.bound(of_pools).value - goal.objective);
  std::vector<double> start;
  for (const JobId j : jobs) start.push_back(profits[j.index()]);
  const double largest = *std::ranges::max_element(start);
  model::Certificate certificate = from_pools(pools, prices, 8.0 * largest);
  std::vector<double> others;
  if (on_gpus > jobs.size()) {
    others = by_rack(instance.cluster, pools, prices);
  } else {
    certificate.pools.clear();  // no job pays them
  }
  const auto found = solver::minimise_job_prices(
      valuation, jobs, start, others, {.slack = above_plan, .stop = goal.stop}, options.job_prices);
  std::vector<model::Certificate> candidates{std::move(proof.certificate)};
  candidates.push_back(judge.fitted(with_jobs(std::move(certificate), jobs, found.prices)));
  if (!affords(options.branch.most_cells, kLeastEvaluationsOfTree, units)) {
    return tightest(judge, std::move(candidates));
  }
  if (auto cases = branched(valuation, candidates.back(), {jobs, found.prices, others}, goal,
                            options.branch)) {
    if (certify::unusable(instance, valuation.objective(), *cases, judge.facts()).empty()) {
      candidates.push_back(std::move(*cases));
    }
  }
  return tightest(judge, std::move(candidates));
}

}  // namespace berth::pipeline
