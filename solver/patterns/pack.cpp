// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/pack.hpp"

#include "balanced_patterns.hpp"
#include "column_generation.hpp"
#include "disaggregation.hpp"
#include "dual_bound.hpp"
#include "initial_patterns.hpp"
#include "instantiation.hpp"
#include "large_neighbourhood.hpp"
#include "local_search/fill_idle_capacity.hpp"
#include "pattern_dive.hpp"
#include "reoptimisation.hpp"
#include "stopwatch.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "berth/base/infinity.hpp"
#include "berth/planner_model/precedence.hpp"

namespace berth::solver {
namespace {

/// Most relaxations, with job types split before each but the first. Chosen, not tuned.
constexpr int kDisaggregationPasses = 6;
/// Part of the work budget for relaxations. Decision 22, "An end to packing".
constexpr double kRelaxation = 0.5;
/// Relative gap of relaxations that are not the last one. Chosen, not tuned.
constexpr double kCoarseGap = 1e-3;

/// Job types above which there is no relaxation: 370 take 0.5 s and 610 take 2 s, the balanced
/// greedy 0.05 s and ends closer to the bound. Decision 37.
constexpr std::size_t kMostTypes = 250;

/// Part of the allowed gap, 0 .. 1, above which neighbourhoods are searched. Decision 6,
/// "Searches"; the rest is left for the difference between relaxation and certificate.
constexpr double kShareOfGap = 0.8;
/// Gap of the dive's relaxations, as a part of the allowed gap. Chosen, not tuned; decision 11
/// found no fewer rounds with looser ones.
constexpr double kFine = 0.03;
/// Least relative gap of the dive's relaxations. Untuned guard.
constexpr double kFinest = 1e-6;

/// A bound without the rewards of required jobs, scaled. Gaps are fractions of it (decision 6).
double bound_without_rewards(const PackingProblem& problem, double bound) {
  double rewards = 0.0;
  for (const JobType& t : problem.types) rewards += t.reward * static_cast<double>(t.jobs.size());
  return std::max(std::abs(bound - rewards), 1e-9);
}

Usage round_to_integers(const PackingProblem& problem, Relaxation& relaxed,
                        const PackOptions& options, const RunContext& run, WorkBudget& budget,
                        PackStats& stats) {
  Stopwatch watch;
  ResidualProblem residual = full_residual(problem);
  std::vector<MachinePattern> patterns;  // those that the relaxation uses: start of the searches
  for (std::size_t j = 0; j < relaxed.patterns.size(); ++j) {
    if (relaxed.usage[j] > 0.0) patterns.push_back(relaxed.patterns[j]);
  }
  const double real = bound_without_rewards(problem, relaxed.bound);
  const double tolerance = std::max(kFine * run.gap, kFinest) * real;
  PatternDiveResult dive = dive_patterns(problem, residual, std::move(relaxed.patterns),
                                         std::move(relaxed.usage), tolerance, budget);
  stats.dive_rounds = dive.rounds;
  stats.dive_seconds = watch.lap();
  reoptimise_machines(problem, residual, dive.usage, budget);
  stats.reoptimisation_seconds = watch.lap();
  stats.neighbourhoods =
      large_neighbourhood_search(problem, residual, dive.usage, patterns,
                                 {.rounds = options.neighbourhoods,
                                  .machines = options.neighbourhood_machines,
                                  .target = relaxed.bound - kShareOfGap * run.gap * real,
                                  .tolerance = tolerance,
                                  .seed = run.seed},
                                 budget);
  stats.neighbourhood_seconds = watch.lap();
  return std::move(dive.usage);
}

void add(PackStats& stats, const Relaxation& relaxed) {
  stats.rounds += relaxed.rounds;
  stats.iterations += relaxed.iterations;
  stats.master_seconds += relaxed.master_seconds;
  stats.pricing_seconds += relaxed.pricing_seconds;
}

/// Solves the relaxation; while jobs of unequal value share a type, splits types and solves again.
Relaxation relax_and_disaggregate(PackingProblem& problem,
                                  const planner_model::Valuation& valuation,
                                  const PackOptions& options, double gap, WorkBudget& budget,
                                  PackStats& stats) {
  Stopwatch watch;
  const ResidualProblem residual = full_residual(problem);
  std::vector<MachinePattern> start = initial_patterns(problem, residual);
  stats.start_seconds = watch.lap();
  const RelaxationLimits limits{
      .gap = options.relaxation_share * gap, .rounds = options.pricing_rounds, .work = kRelaxation};
  const RelaxationLimits coarse{.gap = std::max(kCoarseGap, limits.gap),
                                .rounds = options.pricing_rounds,
                                .work = kRelaxation};
  Relaxation relaxed = generate_columns(problem, residual, std::move(start),
                                        problem.aggregated ? coarse : limits, budget);
  const int aim = std::max(options.job_types, static_cast<int>(problem.types.size()));
  for (int pass = 1; problem.aggregated && pass <= kDisaggregationPasses; ++pass) {
    const int more_types = aim * 4 / 3 - static_cast<int>(problem.types.size());
    const Disaggregation split = disaggregate(problem, valuation, relaxed.price, more_types);
    const bool last = split.types == 0 || pass == kDisaggregationPasses ||
                      split.loss <= 0.3 * gap * relaxed.bound || budget.exhausted(kRelaxation);
    add(stats, relaxed);
    relaxed = generate_columns(problem, full_residual(problem), std::move(relaxed.patterns),
                               last ? limits : coarse, budget);
    if (last) break;
  }
  add(stats, relaxed);
  stats.job_types = static_cast<int>(problem.types.size());
  stats.columns = static_cast<int>(relaxed.patterns.size());
  return relaxed;
}

/// Records placements whose room is taken, in order of precedence, as far as the limits admit.
void record_within_limits(Occupancy& occupancy, model::Placement placements) {
  const model::WorkloadView& workload = occupancy.valuation().instance().workload;
  if (occupancy.limit_usage().limits() != nullptr) {
    const auto precedence = [&](const model::JobPlacement& p) {
      const double value = occupancy.valuation().placed(p);
      return planner_model::precedence(
          workload, p.job, planner_model::value_density(workload, workload.job(p.job), value));
    };
    std::ranges::sort(placements, {}, precedence);
  }
  for (model::JobPlacement& p : placements) {
    const JobId job = p.job;
    const bool carried = occupancy.limit_usage().carries(p);
    const std::optional<double> surcharge = occupancy.limit_usage().surcharge(job);
    occupancy.record(std::move(p));
    const bool worth_it =
        workload.job(job).required || (surcharge && *surcharge <= occupancy.value_of(job));
    if (!carried || !surcharge || !worth_it) occupancy.give_back(job);
  }
}

/// Contents by the balanced greedy for the most valuable tasks; then machines that have room are
/// reoptimised.
Usage balanced_usage(const PackingProblem& problem, WorkBudget& budget) {
  ResidualProblem residual = full_residual(problem);
  Usage usage = balanced_patterns(problem, most_valuable(problem, residual));
  for (const PatternUse& u : usage) take(residual, u.pattern, u.copies);
  reoptimise_machines(problem, residual, usage, budget);
  return usage;
}

/// True when contents of the balanced greedy are used: their value is within the gap of the bound,
/// or the relaxation would have too many rows.
bool enough(const PackingProblem& problem, const Usage& usage, double bound, double gap) {
  if (usage.empty()) return false;
  return problem.types.size() > kMostTypes ||
         value_of(problem, usage) * problem.unit >= (1.0 - gap) * bound;
}

}  // namespace

PackResult pack(Occupancy& occupancy, std::span<const JobId> jobs, const PackOptions& options,
                const RunContext& run, double incumbent) {
  Stopwatch watch;
  PackResult result;
  const planner_model::Valuation& valuation = occupancy.valuation();
  const model::InstanceView& instance = valuation.instance();
  occupancy.admit(jobs);
  PackingProblem problem;
  WorkBudget budget(run.stop, options.work);
  problem.bins =
      bin_types(instance.cluster, occupancy.room(), occupancy.machines(), options.bin_types);
  add_job_types(problem, valuation, jobs, options.job_types);
  result.stats.bin_types = static_cast<int>(problem.bins.size());

  Usage usage;
  Relaxation relaxed;
  if (problem.aggregated && problem.types.size() > kManyTypes) {
    usage = balanced_usage(problem, budget);
    result.bound = clearing_bound(problem, valuation);
    result.prices = clearing_prices(problem);
  }
  const bool balanced = enough(problem, usage, result.bound, run.gap);
  if (!balanced) {
    relaxed = relax_and_disaggregate(problem, valuation, options, run.gap, budget, result.stats);
    result.relaxation = relaxed.value * problem.unit;
    result.prices = task_prices(problem, relaxed.price);
    result.gpu_worth = gpu_worth(problem, relaxed.worth, instance.cluster.gpu_types.size());
    if (incumbent > -kInfinity) result.bound = lagrangian_bound(problem, relaxed, occupancy);
  }
  if (incumbent > -kInfinity && result.bound - incumbent <= run.gap * result.bound) return result;
  if (!balanced) usage = round_to_integers(problem, relaxed, options, run, budget, result.stats);
  record_within_limits(occupancy, instantiate(problem, valuation, occupancy.room(), usage));
  local_search::fill_idle_capacity(occupancy, jobs);

  for (const JobId job : jobs) result.value += occupancy.value_of(job);
  if (!balanced) result.bound = lagrangian_bound(problem, relaxed, occupancy);
  result.bound = std::max(result.bound, result.value);
  result.stats.work = budget.spent();
  result.stats.seconds = watch.lap();
  return result;
}

}  // namespace berth::solver
