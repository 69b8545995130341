// SPDX-License-Identifier: Apache-2.0
#include "local_search/fill_idle_capacity.hpp"
#include "local_search/insertion.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "berth/solver/occupancy.hpp"

namespace berth::solver::local_search {

using model::JobPlacement;
using model::Level;

namespace {

/// Applies an insertion as `insert` does; nullopt, without any change, if limits of racks and pods
/// do not admit it.
template <SearchState State>
std::optional<InsertionOutcome> apply_insertion(State& state, JobId job, const Insertion& insertion,
                                                double at_least, const OptionPlacer& placer) {
  const auto mark = state.mark();
  double gain = state.limit_usage().surcharges();
  std::vector<JobId> victims = insertion.victims;
  std::ranges::sort(victims, std::less<>{},
                    [&](JobId victim) { return state.precedence_of(victim); });
  for (const JobId victim : insertion.victims) {
    gain -= state.value_of(victim);
    state.give_back(victim);
  }
  std::optional<JobPlacement> placement;
  const planner_model::CouplingLimits* limits = state.limit_usage().limits();
  bool refused = false;
  if (state.limit_usage().surcharge(job)) {
    placement = state.fit(job, insertion.machines);
    refused = !placement && limits != nullptr && limits->of_places();
  }
  InsertionOutcome outcome;
  if (placement) {
    state.take(std::move(*placement));
    gain += state.value_of(job);
    for (const JobId victim : victims) {
      if (place_in_idle_capacity(state, victim, placer)) {
        gain += state.value_of(victim);
      } else {
        outcome.evicted.push_back(victim);
      }
    }
    gain -= state.limit_usage().surcharges();
    if (gain >= at_least && gain > 0.0) {
      state.keep(mark);
      outcome.gain = gain;
      return outcome;
    }
  }
  state.roll_back(mark);
  if (refused) return std::nullopt;
  return InsertionOutcome{};
}

}  // namespace

template <SearchState State>
InsertionOutcome insert(State& state, JobId job, const Insertion& found, double at_least,
                        const OptionPlacer& placer) {
  if (auto outcome = apply_insertion(state, job, found, at_least, placer)) return *outcome;
  const Insertion narrow = find_insertion(state, job, {.widest = Level::rack});
  if (narrow.gain <= 0.0 || narrow.gain < at_least) return {};
  return apply_insertion(state, job, narrow, at_least, {}).value_or(InsertionOutcome{});
}

template InsertionOutcome insert(Occupancy&, JobId, const Insertion&, double, const OptionPlacer&);

}  // namespace berth::solver::local_search
