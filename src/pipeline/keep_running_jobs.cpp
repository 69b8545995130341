// SPDX-License-Identifier: Apache-2.0
#include "keep_running_jobs.hpp"

#include "batched_gather.hpp"
#include "plan_again.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "berth/certify/figures.hpp"

namespace berth::pipeline {
namespace {

/// GPUs: the second plan takes as long as the first. Chosen, not tuned.
constexpr std::int64_t kMostGpus = 65'536;

bool applies(const PlanningContext& context) {
  const model::InstanceView& instance = context.unpriced.instance();
  return !context.options.online_order && instance.cluster.gpus() <= kMostGpus &&
         std::ranges::any_of(instance.workload.tables().running,
                             [](const model::Running& r) { return !r.pinned; });
}

}  // namespace

void keep_running_jobs(const PlanningContext& context, coordinator::JobRecords& records,
                       const DistributedJudge& judge, LocalSolution& solution, const Proof& proof,
                       model::Placement& placement) {
  if (!applies(context)) return;
  const Score first = score(context, judge, placement);
  const bool proved = certify::gap(proof.upper_bound, first.objective) <= context.options.gap;
  if (context.comm.max(proved || context.stop.requested() ? 1 : 0) == 1) return;
  const auto at_homes = [&](const model::Placement& mine) {
    records.scatter_homes();
    return to_homes(context.comm, records, mine);
  };
  placement = at_homes(placement);
  PlanOptions options = context.options;
  options.shard.running = solver::RunningStart::keep;
  model::Placement kept = at_homes(plan_again(context, options, records, solution, proof));
  if (score(context, judge, kept) > first) placement = std::move(kept);
}

}  // namespace berth::pipeline
