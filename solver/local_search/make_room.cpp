// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/make_room.hpp"

#include "local_search/candidate_domains.hpp"
#include "local_search/insertion.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace berth::solver {
namespace {

/// Placement on these machines; on one of them alone when the domain asks for one.
std::optional<model::JobPlacement> room_in(Occupancy& state, JobId id, const Domain& domain) {
  const model::WorkloadView& workload = state.valuation().instance().workload;
  if (workload.job(id).domain != model::Level::machine) return state.fit(id, domain.machines);
  for (const MachineId& machine : domain.machines) {
    if (auto placement = state.fit(id, std::span(&machine, 1))) return placement;
  }
  return std::nullopt;
}

}  // namespace

std::optional<model::JobPlacement> find_room(Occupancy& state, JobId job) {
  if (!state.limit_usage().surcharge(job)) return std::nullopt;
  std::optional<model::JobPlacement> found;
  local_search::for_each_candidate_domain(state, job, model::Level::cluster,
                                          [&](const Domain& domain, double) {
                                            if (!found) found = room_in(state, job, domain);
                                          });
  return found;
}

std::optional<MadeRoom> make_room(Occupancy& state, JobId job) {
  const local_search::Insertion insertion = local_search::find_insertion(std::as_const(state), job);
  if (insertion.gain <= 0.0) return std::nullopt;
  const Occupancy::Mark mark = state.mark();
  const local_search::InsertionOutcome outcome =
      local_search::insert(state, job, insertion, -std::numeric_limits<double>::infinity());
  std::optional<MadeRoom> made;
  if (state.is_placed(job)) {
    made = MadeRoom{.placement = state.placed(job), .moved = {}, .stopped = outcome.evicted};
    for (const JobId victim : insertion.victims) {
      if (state.is_placed(victim)) made->moved.push_back(state.placed(victim));
    }
    std::ranges::sort(made->moved, {}, &model::JobPlacement::job);
    std::ranges::sort(made->stopped);
  }
  state.roll_back(mark);
  return made;
}

}  // namespace berth::solver
