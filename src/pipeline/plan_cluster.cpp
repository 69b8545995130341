// SPDX-License-Identifier: Apache-2.0
#include "berth/pipeline/plan_cluster.hpp"

#include "batched_gather.hpp"
#include "digests.hpp"
#include "distributed_judge.hpp"
#include "global_placement.hpp"
#include "local_solution.hpp"
#include "online.hpp"
#include "planning_problem.hpp"
#include "prove.hpp"
#include "resource_prices.hpp"
#include "stages.hpp"
#include "tighten.hpp"
#include "waiting_reasons.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <sys/resource.h>

#include "berth/certify/bound.hpp"
#include "berth/certify/figures.hpp"
#include "berth/certify/gap_parts.hpp"
#include "berth/pipeline/distribute.hpp"

namespace berth::pipeline {
namespace {

using comm::Communicator;
using model::Placement;

TightenOptions tightening(const model::Instance& instance, const PlanOptions& options) {
  const std::int64_t gpus = instance.cluster.gpus();
  TightenOptions tightening{.job_prices = options.job_prices, .branch = options.branch};
  tightening.job_prices.evaluations =
      options.bound_steps >= 0 ? options.bound_steps : usual_bound_steps(gpus);
  tightening.branch.leaves = options.tree_nodes >= 0 ? options.tree_nodes : usual_tree_leaves(gpus);
  return tightening;
}

/// A better proof where that pays: rank 0 looks at all jobs and all that is placed.
void tighten(const PlanningContext& context, const LocalSolution& solution,
             const DistributedJudge& judge, Proof& proof, model::Placement& placement) {
  const model::Instance& instance = context.unpriced.instance();
  const PlanOptions& options = context.options;
  const TightenGoal goal{
      .objective = judge.objective(placement), .gap = options.gap, .stop = context.stop};
  const TightenOptions how = tightening(instance, options);
  if (certify::gap(proof.upper_bound, goal.objective) <= goal.gap) return;
  if (how.job_prices.evaluations <= 0 && !resources_matter(instance)) return;
  context.records.gather_to_root();
  placement = gather_placement(context.comm, std::move(placement));
  context.comm.agreed_on_root([&] {
    proof = price_resources(instance, options.objective, std::move(proof), context.stop);
    proof = tighten(context.unpriced, context.pools, solution.consensus.prices, std::move(proof),
                    goal, how);
  });
}

/// Assembles the certified plan. Rank 0 holds all but placements; each rank those of its home jobs.
model::Plan certify_plan(const PlanningContext& context, Proof proof, model::Placement placement) {
  const model::Instance& instance = context.unpriced.instance();
  const std::vector<JobId> home = context.records.home_jobs();
  Assessment assessment = DistributedJudge(context.comm, instance, context.options.objective, home)
                              .judge(proof.certificate, placement);
  model::Plan plan;
  plan.seed = context.options.seed;
  plan.objective_kind = context.options.objective;
  plan.waiting = waiting(context.comm, instance, context.limits, home, placement);
  plan.plan_digest = plan_digest(context.comm, instance, placement);
  plan.instance_digest = context.digest.empty()
                             ? instance_digest(context.comm, instance, context.records)
                             : context.digest;
  plan.placements = std::move(placement);
  plan.figures = assessment.figures;
  plan.gap_parts = std::move(assessment.gap_parts);
  plan.required_missing = std::move(assessment.required_missing);
  plan.certificate = std::move(proof.certificate);
  context.comm.agreed_on_root([&] {
    plan.proof_digest = certify::proof_digest(instance, plan.figures.objective,
                                              plan.figures.upper_bound, plan.certificate);
  });
  return plan;
}

/// Of the tree of cases; 0 without one.
std::int64_t leaves_of(const model::BoundTree& tree) {
  return std::ranges::count_if(tree.nodes, [&](const auto& n) { return !n.split.valid(); });
}

double peak_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

/// Collective.
std::map<std::string, double> stats(const PlanningContext& context, const LocalSolution& solution,
                                    const GlobalPlacement& placed, const model::BoundTree& tree) {
  return {{"evaluations", solution.consensus.evaluations},
          {"pools", static_cast<double>(context.pools.size())},
          {"shards", static_cast<double>(context.shards.size())},
          {"ranks", context.comm.size()},
          {"jobs_per_rank", static_cast<double>(placed.most_jobs)},
          {"rounds", placed.rounds},
          {"leaves", static_cast<double>(leaves_of(tree))},
          {"spanning_gangs", static_cast<double>(placed.spanning)},
          {"peak_memory_mib", context.comm.max_seconds(peak_memory_mib())}};
}

double largest_of(std::span<const double> prices) {
  return prices.empty() ? 0.0 : *std::ranges::max_element(prices);
}

/// What the prices found so far can prove.
std::vector<model::Certificate> candidates(const PlanningContext& context,
                                           const LocalSolution& solution) {
  const model::LimitGroups& groups = context.limit_groups;
  const std::span<const double> of_limits = solution.consensus.limits;
  std::vector<model::Certificate> found{
      from_pools(context.pools, solution.consensus.prices, largest_of(of_limits))};
  if (!solution.local.task_prices.empty()) found.push_back(from_shapes(solution.local.task_prices));
  const std::size_t quotas = groups.limits().of_queues();
  for (model::Certificate& candidate : found) {
    add_limit_prices(candidate, groups, of_limits, 0, quotas);
  }
  if (largest_of(of_limits.subspan(quotas)) > 0.0) {
    found.push_back(found.front());
    add_limit_prices(found.back(), groups, of_limits, quotas, groups.prices());
  }
  return found;
}

}  // namespace

model::Plan plan_distributed(const Communicator& comm, const model::Instance& instance,
                             const PlanOptions& options, report::ProgressTable& progress,
                             coordinator::JobRecords& jobs, const StopToken& stop) {
  validate(options);
  Stages stages(comm);
  const PlanningProblem problem(comm, instance, options, stages, jobs);
  const PlanningContext context = problem.context(comm, options, jobs, stop);
  LocalSolution solution = options.checkpoint.resume.empty()
                               ? plan_locally(context, stages, progress)
                               : resume(context, stages);

  const std::vector<JobId> home = jobs.home_jobs();
  std::optional<DistributedJudge> judge;
  Proof proof = stages.run("bound", [&] {
    judge.emplace(comm, instance, options.objective, home);
    return tightest(*judge, comm.rank() == 0 ? candidates(context, solution)
                                             : std::vector<model::Certificate>{});
  });
  std::vector<model::RoundRecord> records;
  GlobalPlacement placed =
      options.online_order ? place_online(context, stages)
                           : place_in_rounds(context, solution, proof, stages, progress, records);
  stages.run("tighten", [&] { tighten(context, solution, *judge, proof, placed.placement); });

  model::Plan plan = stages.run("certify", [&] {
    return certify_plan(context, std::move(proof), std::move(placed.placement));
  });
  if (comm.rank() == 0) {
    progress.line({.stage = "certify",
                   .objective = plan.figures.objective,
                   .bound = plan.figures.upper_bound});
  }
  plan.reproducible = comm.max(stop.has_cut() ? 1 : 0) == 0;
  plan.seconds = stages.slowest();
  plan.rounds = std::move(records);
  plan.stats = stats(context, solution, placed, plan.certificate.tree);
  return plan;
}

void gather_plan(const Communicator& comm, model::Plan& plan) {
  plan.placements = gather_placement(comm, std::move(plan.placements));
  plan.waiting = gather_waiting(comm, plan.waiting);
}

model::Plan plan_cluster(const Communicator& comm, const model::Instance& instance,
                         const PlanOptions& options, report::ProgressTable& progress,
                         const StopToken& stop) {
  auto jobs = coordinator::JobRecords::of_replicated(comm, instance.workload);
  model::Plan plan = plan_distributed(comm, instance, options, progress, jobs, stop);
  gather_plan(comm, plan);
  return plan;
}

}  // namespace berth::pipeline
