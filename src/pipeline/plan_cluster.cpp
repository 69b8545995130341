// SPDX-License-Identifier: Apache-2.0
#include "berth/pipeline/plan_cluster.hpp"

#include "assign.hpp"
#include "batched_gather.hpp"
#include "bound.hpp"
#include "certify_plan.hpp"
#include "coordinate.hpp"
#include "effort.hpp"
#include "keep_running_jobs.hpp"
#include "online.hpp"
#include "plan_stats.hpp"
#include "planning_problem.hpp"
#include "priority_order.hpp"
#include "relax.hpp"
#include "resume.hpp"
#include "round.hpp"
#include "tighten_plan.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include "berth/solver/petsc_session.hpp"

namespace berth::pipeline {
namespace {

/// Local plans, or what a checkpoint has of the run. Collective.
StartedRun start(const PlanningContext& context, coordinator::JobRecords& jobs) {
  if (!context.options.checkpoint.resume.empty()) return resume(context, jobs);
  GlobalRelaxation relaxation = relax(context, jobs);
  coordinator::Assignment assignment = assign(context, jobs, relaxation);
  return {.solution = round(context, jobs, std::move(relaxation), std::move(assignment)),
          .effort = {},
          .placement = {}};
}

/// The plan before the passes of effort. Collective. @param proof  set to its proof
GlobalPlacement plan_once(const PlanningContext& context, coordinator::JobRecords& jobs,
                          const DistributedJudge& judge, LocalSolution& solution, Proof& proof) {
  proof = bound(context, judge, solution);
  GlobalPlacement placed = context.options.online_order
                               ? place_online(context, jobs)
                               : coordinate(context, jobs, solution, proof);
  keep_running_jobs(context, jobs, judge, solution, proof, placed.placement);
  tighten(context, jobs, judge, solution, proof, placed.placement);
  return placed;
}

}  // namespace

model::Plan plan_distributed(const comm::Communicator& comm, const model::InstanceView& instance,
                             const PlanOptions& options, report::ProgressTable& progress,
                             coordinator::JobRecords& jobs, const StopToken& stop) {
  validate(options);
  solver::PetscSession::expect_active();
  if (options.order == JobOrder::priority) {
    return plan_by_priority(comm, instance, options, progress, jobs, stop);
  }
  Stages stages(comm);
  const PlanningProblem problem(comm, instance, options, stages, jobs);
  const PlanningContext context = problem.context(comm, options, stages, progress, stop);

  StartedRun run = start(context, jobs);
  LocalSolution& solution = run.solution;
  const std::vector<JobId> home = jobs.home_jobs();
  const DistributedJudge judge = judge_of(context, home);
  Proof proof;
  GlobalPlacement placed;
  if (run.effort.pass == 0) {
    placed = plan_once(context, jobs, judge, solution, proof);
  } else {
    proof = saved_proof(context, judge, run.effort);
    placed.placement = std::move(run.placement);
    placed.rounds = solution.rounds.round;
  }
  spend_effort(context, jobs, judge, {solution, proof, placed}, std::move(run.effort));

  model::Plan plan = certify_plan(context, jobs, solution.relaxation.consensus.prices,
                                  std::move(proof), std::move(placed.placement));
  plan.reproducible = comm.max(stop.has_cut() ? 1 : 0) == 0;
  plan.seconds = stages.slowest();
  plan.stats = plan_stats(context, solution, placed, plan.certificate.tree);
  plan.rounds = std::move(placed.records);
  return plan;
}

void gather_plan(const comm::Communicator& comm, model::Plan& plan) {
  plan.placements = gather_placement(comm, std::move(plan.placements));
  plan.waiting = gather_waiting(comm, plan.waiting);
}

model::Plan plan_cluster(const comm::Communicator& comm, const model::InstanceView& instance,
                         const PlanOptions& options, report::ProgressTable& progress,
                         const StopToken& stop) {
  if (instance.workload.in_parts()) {
    throw std::logic_error(
        "plan_cluster needs all jobs on every rank, and this instance has them in parts "
        "(load_instance): make coordinator::JobRecords of it and call plan_distributed, or call "
        "berth::plan_files (berth/berth.hpp)");
  }
  auto jobs = coordinator::JobRecords::of_replicated(comm, instance.workload);
  model::Plan plan = plan_distributed(comm, instance, options, progress, jobs, stop);
  gather_plan(comm, plan);
  return plan;
}

}  // namespace berth::pipeline
