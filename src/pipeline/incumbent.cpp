// SPDX-License-Identifier: Apache-2.0
#include "incumbent.hpp"

#include "batched_gather.hpp"

#include <algorithm>
#include <utility>

#include "berth/certify/figures.hpp"

namespace berth::pipeline {

Incumbent::Incumbent(const PlanningContext& context, coordinator::JobRecords& records,
                     const DistributedJudge& judge, model::Placement& placement)
    : context_(context), records_(records), judge_(judge), placement_(placement) {
  refresh();
}

void Incumbent::offer(const model::Placement& found) {
  model::Placement here = at_homes(found);
  const Score other = score(here);
  if (other <= score_) return;
  score_ = other;
  placement_ = std::move(here);
}

void Incumbent::refresh() {
  placement_ = at_homes(placement_);
  score_ = score(placement_);
}

bool Incumbent::ends_search(const Proof& proof, double enough) const {
  const bool proved =
      certify::gap(proof.upper_bound, score_.objective) <= std::max(context_.options.gap, enough);
  bool stopped = false;
  context_.comm.agreed([&] { stopped = context_.stop.requested(); });
  return context_.comm.max(proved || stopped ? 1 : 0) == 1;
}

model::Placement Incumbent::at_homes(const model::Placement& mine) const {
  records_.scatter_homes();
  return to_homes(context_.comm, records_, mine);
}

Incumbent::Score Incumbent::score(const model::Placement& placement) const {
  std::int64_t required = 0;
  const model::WorkloadView& workload = context_.unpriced.instance().workload;
  for (const model::JobPlacement& p : placement) required += workload.job(p.job).required ? 1 : 0;
  return {context_.comm.sum(required), judge_.objective(placement)};
}

}  // namespace berth::pipeline
