// SPDX-License-Identifier: Apache-2.0
#include "keep_running_jobs.hpp"

#include "incumbent.hpp"
#include "plan_again.hpp"

#include <cstdint>

#include "berth/solver/selected_start.hpp"

namespace berth::pipeline {
namespace {

/// GPUs: the second plan takes as long as the first. Chosen, not tuned.
constexpr std::int64_t kMostGpus = 65'536;

bool applies(const PlanningContext& context) {
  const model::InstanceView& instance = context.unpriced.instance();
  return !context.options.online_order && instance.cluster.gpus() <= kMostGpus &&
         solver::some_job_may_move(instance.workload);
}

}  // namespace

void keep_running_jobs(const PlanningContext& context, coordinator::JobRecords& records,
                       const DistributedJudge& judge, LocalSolution& solution, const Proof& proof,
                       model::Placement& placement) {
  if (!applies(context)) return;
  Incumbent best(context, records, judge, placement);
  if (best.ends_search(proof)) return;
  PlanOptions options = context.options;
  options.shard.running = solver::RunningStart::keep;
  best.offer(plan_again(context, options, records, solution, proof));
}

}  // namespace berth::pipeline
