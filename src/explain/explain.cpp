// SPDX-License-Identifier: Apache-2.0
#include "berth/explain/explain.hpp"

#include "changes.hpp"
#include "places.hpp"
#include "trials.hpp"

#include <algorithm>
#include <utility>

namespace berth::explain {

struct Explainer::State {
  Trials trials;
  CertifiedPools pools;
};

Explainer::Explainer(model::Instance instance, model::Objective objective,
                     model::Placement placement, const model::Certificate* certificate)
    : state_(new State{.trials = Trials(std::move(instance), objective, std::move(placement)),
                       .pools = {}}) {
  state_->pools = certified_pools(state_->trials.cluster(), certificate);
}

Explainer::~Explainer() = default;

const model::Instance& Explainer::instance() const { return state_->trials.instance(); }

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
