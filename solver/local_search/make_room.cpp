// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/make_room.hpp"

#include "local_search/candidate_domains.hpp"
#include "local_search/counted_placer.hpp"
#include "local_search/fill_idle_capacity.hpp"
#include "local_search/group_insertion.hpp"
#include "local_search/insertion.hpp"
#include "local_search/machines_by_cost.hpp"
#include "local_search/machines_of.hpp"

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

/// Lists the domains and machines that may hold one of these jobs after all of them have given back
/// their room. @param mark  set when the counts were exact
local_search::OptionPlacer placer_of(const Occupancy& state, Occupancy::Mark mark,
                                     FreeTaskCounts* counts, std::span<const JobId> victims) {
  if (counts == nullptr) return {};
  const model::WorkloadView& workload = state.valuation().instance().workload;
  for (const JobId job : victims) counts->prepare(workload.job(job));
  std::vector<MachineId> machines = local_search::distinct_machines([&](const auto& add) {
    for (const JobId job : victims) add(state.placed(job).tasks);
  });
  return local_search::counted_placer(state, mark, *counts, std::move(machines));
}

/// @param counts  of the present content, or null
std::optional<MadeRoom> make_room(Occupancy& state, JobId job,
                                  const local_search::Insertion& insertion,
                                  FreeTaskCounts* counts) {
  if (insertion.gain <= 0.0) return std::nullopt;
  const Occupancy::Mark mark = state.mark();
  const local_search::InsertionOutcome outcome =
      local_search::insert(state, job, insertion, -std::numeric_limits<double>::infinity(),
                           placer_of(state, mark, counts, insertion.victims));
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

RoomSearch::RoomSearch(Occupancy& state, FreeTaskCounts* counts)
    : state_(state),
      counts_(counts),
      remembers_(local_search::depends_on_tasks_alone(state.limit_usage())) {}

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
        std::size_t seen = std::min(passed - std::min(passed, before), domains.size());
        if (!found) {
          found = find_in(id, type, domains, seen);
          passed = std::max(passed, before + seen);
        }
        before += domains.size();
      });
  return found;
}

/// @param passed  number of the first domains known to have no room; edited
std::optional<model::JobPlacement> RoomSearch::find_in(JobId id, GpuTypeId type,
                                                       std::span<const Domain> domains,
                                                       std::size_t& passed) {
  if (counts_ == nullptr) {
    for (; passed < domains.size(); ++passed) {
      if (auto found = room_in(state_, id, domains[passed])) return found;
    }
    return std::nullopt;
  }
  const model::Job& job = state_.valuation().instance().workload.job(id);
  for (const Domain* domain : counts_->holders(job, type, domains.subspan(passed))) {
    passed = static_cast<std::size_t>(domain - domains.data());
    if (auto found = room_in(state_, id, *domain)) return found;
  }
  passed = domains.size();
  return std::nullopt;
}

std::optional<MadeRoom> make_room(Occupancy& state, JobId job) {
  return RoomMaker(state).make(job);
}

RoomMaker::RoomMaker(Occupancy& state, FreeTaskCounts* counts) : state_(state), counts_(counts) {}
RoomMaker::~RoomMaker() = default;

std::optional<MadeRoom> RoomMaker::make(JobId job) {
  const bool groups = state_.valuation().instance().workload.job(job).groups > 1;
  if ((asked_ || groups) && costs_ == nullptr) {
    costs_ = std::make_unique<local_search::EvictionCostBounds>(state_);
    kept_ = std::make_unique<local_search::KeptCostBounds>(state_, *costs_);
    order_ = std::make_unique<local_search::MachinesByCost>(state_);
  }
  asked_ = true;
  if (!groups) {
    return make_room(state_, job,
                     local_search::find_insertion(std::as_const(state_), job,
                                                  {.kept = kept_.get(), .order = order_.get()}),
                     counts_);
  }
  if (groups_ == nullptr) groups_ = std::make_unique<local_search::GroupInsertions>(state_, *kept_);
  return make_room(state_, job, groups_->find(job), counts_);
}

}  // namespace berth::solver
