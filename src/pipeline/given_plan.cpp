// SPDX-License-Identifier: Apache-2.0
#include "berth/pipeline/given_plan.hpp"

#include "distributed_judge.hpp"

#include <algorithm>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/certify/figures.hpp"
#include "berth/certify/horizon_plan.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/model/digest.hpp"

namespace berth::pipeline {
namespace {

/// Calls visit(job) for each planned job that is not placed, ascending.
template <class Visit>
void each_waiting(const model::InstanceView& instance, const model::Placement& placement,
                  const Visit& visit) {
  auto next = placement.begin();
  for (const JobId job : model::planned_jobs(instance.workload)) {
    if (next != placement.end() && next->job == job) {
      ++next;
    } else {
      visit(job);
    }
  }
  BERTH_EXPECT(next == placement.end());
}

}  // namespace

model::Plan with_placement(const model::InstanceView& instance, model::Plan plan,
                           model::Placement placement, const std::string& reason) {
  BERTH_EXPECT(plan.classes.empty());
  const auto serial = comm::Communicator::serial();
  const std::vector<JobId> jobs = model::planned_jobs(instance.workload);
  plan.stats = {{"berth_objective", plan.figures.objective}, {"berth_gap", plan.figures.gap}};
  plan.rounds.clear();
  Assessment assessment = DistributedJudge(serial, instance, plan.objective_kind, jobs)
                              .judge(plan.certificate, placement);
  plan.waiting.clear();
  each_waiting(instance, placement, [&](JobId job) { plan.waiting.push_back({job, reason}); });
  plan.plan_digest = model::plan_digest(instance, placement);
  plan.placements = std::move(placement);
  plan.figures = assessment.figures;
  plan.gap_parts = std::move(assessment.gap_parts);
  plan.required_missing = std::move(assessment.required_missing);
  plan.proof_digest = certify::proof_digest(instance, plan.figures.objective,
                                            plan.figures.upper_bound, plan.certificate);
  return plan;
}

model::HorizonPlan with_placement(const model::InstanceView& instance, model::HorizonPlan plan,
                                  model::Placement placement, std::vector<std::int64_t> ends,
                                  const std::string& reason) {
  BERTH_EXPECT(plan.promises.empty() && ends.size() == placement.size());
  plan.waiting.clear();
  each_waiting(instance, placement, [&](JobId job) {
    plan.waiting.push_back({.job = job, .reason = reason, .earliest_start = {}});
  });
  plan.placements = std::move(placement);
  plan.ends = std::move(ends);
  certify::HorizonJudgement judged =
      certify::judge_horizon(instance, plan.horizon, plan.placements, plan.ends, plan.certificate);
  plan.figures = judged.figures;
  plan.required_missing = std::move(judged.required_missing);
  plan.plan_digest = model::plan_digest(instance, plan.placements);
  plan.proof_digest = certify::horizon_proof_digest(plan.horizon, plan.figures, plan.certificate);
  return plan;
}

}  // namespace berth::pipeline
