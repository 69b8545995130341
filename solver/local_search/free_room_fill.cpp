// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/free_room_fill.hpp"

#include "local_search/counted_placer.hpp"
#include "local_search/fill_idle_capacity.hpp"

#include <set>
#include <utility>
#include <vector>

#include "berth/planner_model/equal_jobs.hpp"
#include "berth/planner_model/precedence.hpp"
#include "berth/solver/make_room.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver {
namespace {

Occupancy occupancy_of(const planner_model::Valuation& valuation, const FreeCapacity& capacity) {
  Occupancy occupancy(valuation, capacity.machines, capacity.limits);
  for (std::size_t l = 0; l < capacity.use.size(); ++l) {
    const std::int64_t all = capacity.limits->capacity(l);
    if (all != model::kNoLimit) occupancy.limit_usage().allow(l, all - capacity.use[l]);
  }
  const model::WorkloadView& workload = valuation.instance().workload;
  for (const model::JobPlacement& placed : capacity.present) {
    planner_model::take(occupancy.room(), workload, placed);
  }
  return occupancy;
}

/// Places the jobs for which the search finds room at a gain. Returns their number. Room only
/// shrinks, so of equal jobs none has room after the first without.
int place_found(Occupancy& occupancy, RoomSearch& search, std::span<const JobId> jobs,
                const StopToken& stop) {
  const planner_model::Valuation& valuation = occupancy.valuation();
  const model::WorkloadView& workload = valuation.instance().workload;
  std::set<planner_model::JobClass> without_room;
  int placed = 0;
  for (const JobId job : jobs) {
    if (stop.requested()) return placed;
    const auto surcharge = occupancy.limit_usage().surcharge(job);
    if (occupancy.is_placed(job) || !surcharge) continue;
    const auto kind = planner_model::job_kind(workload, workload.job(job));
    if (without_room.contains(kind)) continue;
    auto found = search.find(job);
    if (!found) {
      without_room.insert(kind);
      continue;
    }
    const double lost = *surcharge + occupancy.limit_usage().surcharge_of_place(*found);
    if (!workload.job(job).required && valuation.placed(*found) <= lost) continue;
    occupancy.take(*std::move(found));
    ++placed;
  }
  return placed;
}

}  // namespace

model::Placement fill_free_room(const planner_model::Valuation& valuation,
                                const FreeCapacity& capacity, std::span<const JobId> jobs,
                                const StopToken& stop) {
  Occupancy occupancy = occupancy_of(valuation, capacity);
  std::vector<JobId> order(jobs.begin(), jobs.end());
  planner_model::sort_by_precedence(valuation, order);
  occupancy.admit(order);
  FreeTaskCounts counts(occupancy);
  const Occupancy::Mark mark = occupancy.mark();
  local_search::fill_idle_capacity(occupancy, order, stop,
                                   local_search::counted_placer(occupancy, mark, counts));
  occupancy.keep(mark);
  for (const JobId job : occupancy.placed_jobs()) {
    if (occupancy.value_of(job) < 0.0) occupancy.give_back(job);  // to stop costs less than to move
  }
  FreeTaskCounts left(occupancy);
  RoomSearch search(occupancy, &left);
  while (place_found(occupancy, search, order, stop) > 0) {
  }
  return occupancy.placement();
}

}  // namespace berth::solver
