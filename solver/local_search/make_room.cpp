// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/make_room.hpp"

#include "local_search/candidate_domains.hpp"
#include "local_search/insertion.hpp"

#include <algorithm>
#include <limits>
#include <memory>
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

/// @param costs  bounds for the present content, or null
std::optional<MadeRoom> make_room(Occupancy& state, JobId job,
                                  const local_search::EvictionCostBounds* costs) {
  const local_search::Insertion insertion =
      local_search::find_insertion(std::as_const(state), job, {.costs = costs});
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

}  // namespace

std::optional<model::JobPlacement> find_room(Occupancy& state, JobId job) {
  return RoomSearch(state).find(job);
}

RoomSearch::RoomSearch(Occupancy& state)
    : state_(state), remembers_(local_search::depends_on_tasks_alone(state.limit_usage())) {}

std::optional<model::JobPlacement> RoomSearch::find(JobId id) {
  if (!state_.limit_usage().surcharge(id)) return std::nullopt;
  const model::WorkloadView& workload = state_.valuation().instance().workload;
  const model::Job& job = workload.job(id);
  std::size_t& passed =
      passed_[{planner_model::TaskProfile(workload, job), job.gpu_types, job.domain}];
  if (!remembers_) passed = 0;
  std::size_t before = 0;  // domains of the lists before
  std::optional<model::JobPlacement> found;
  local_search::for_each_candidate_list(
      state_, id, model::Level::cluster, [&](GpuTypeId type, model::Level level) {
        const std::span<const Domain> domains = state_.index().domains(type, level);
        while (!found && passed < before + domains.size()) {
          found = room_in(state_, id, domains[passed - before]);
          if (!found) ++passed;
        }
        before += domains.size();
      });
  return found;
}

std::optional<MadeRoom> make_room(Occupancy& state, JobId job) {
  return make_room(state, job, nullptr);
}

RoomMaker::RoomMaker(Occupancy& state) : state_(state) {}
RoomMaker::~RoomMaker() = default;

std::optional<MadeRoom> RoomMaker::make(JobId job) {
  if (asked_ && costs_ == nullptr) {
    costs_ = std::make_unique<local_search::EvictionCostBounds>(state_);
  }
  asked_ = true;
  return make_room(state_, job, costs_.get());
}

}  // namespace berth::solver
