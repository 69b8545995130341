// SPDX-License-Identifier: Apache-2.0
#include "berth/explain/explain.hpp"

#include "changes.hpp"
#include "places.hpp"
#include "trials.hpp"

#include <algorithm>

namespace berth::explain {

struct Explainer::State {
  Trials trials;
  CertifiedPools pools;
};

Explainer::Explainer(const model::Instance& instance, model::Objective objective,
                     const model::Placement& placement, const model::Certificate* certificate)
    : state_(new State{.trials = Trials(instance, objective, placement),
                       .pools = certified_pools(instance.cluster, certificate)}) {}

Explainer::~Explainer() = default;

Explanation Explainer::explain(JobId job) {
  Explanation explanation;
  explanation.job = job;
  explanation.places = priced_places(state_->trials, state_->pools, job);
  if (!state_->trials.occupancy().is_placed(job)) {
    explanation.changes = changes(state_->trials, job);
  }
  return explanation;
}

}  // namespace berth::explain
