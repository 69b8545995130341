// SPDX-License-Identifier: Apache-2.0
#include "certify_plan.hpp"

#include "batched_gather.hpp"
#include "digests.hpp"
#include "distributed_judge.hpp"
#include "waiting_reasons.hpp"

#include <span>
#include <utility>
#include <vector>

#include "berth/certify/figures.hpp"

namespace berth::pipeline {
namespace {

/// Job prices and the search are judged where all jobs are; passes of effort may have moved some.
void gather_for(const model::Certificate& certificate, const comm::Communicator& comm,
                coordinator::JobRecords& records, model::Placement& placement) {
  const bool of_all = !certificate.jobs.empty() || certificate.search_steps > 0;
  if (comm.max(comm.rank() == 0 && of_all ? 1 : 0) == 0) return;
  records.gather_to_root();
  placement = gather_placement(comm, std::move(placement));
}

model::Plan assemble(const PlanningContext& context, coordinator::JobRecords& records,
                     std::span<const double> prices, Proof proof, model::Placement placement) {
  const model::InstanceView& instance = context.unpriced.instance();
  gather_for(proof.certificate, context.comm, records, placement);
  const std::vector<JobId> home = records.home_jobs();
  Assessment assessment = DistributedJudge(context.comm, instance, context.options.objective, home)
                              .judge(proof.certificate, placement);
  model::Plan plan;
  plan.seed = context.options.seed;
  plan.objective_kind = context.options.objective;
  plan.waiting = waiting({context.comm, context.unpriced, context.limits, context.pools, prices},
                         home, placement);
  plan.plan_digest = plan_digest(context.comm, instance, placement);
  plan.instance_digest =
      context.digest.empty() ? instance_digest(context.comm, instance, records) : context.digest;
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

}  // namespace

model::Plan certify_plan(const PlanningContext& context, coordinator::JobRecords& records,
                         std::span<const double> prices, Proof proof, model::Placement placement) {
  model::Plan plan = context.stages.run("certify", [&] {
    return assemble(context, records, prices, std::move(proof), std::move(placement));
  });
  if (context.comm.rank() == 0) {
    context.progress.line({.stage = "certify",
                           .objective = plan.figures.objective,
                           .bound = plan.figures.upper_bound});
  }
  return plan;
}

}  // namespace berth::pipeline
