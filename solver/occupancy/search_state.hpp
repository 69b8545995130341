// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <ranges>
#include <span>

#include "berth/planner_model/limit_usage.hpp"
#include "berth/planner_model/precedence.hpp"
#include "berth/planner_model/room.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/domain_index.hpp"

namespace berth::solver {

/// The state that a move edits: `fit` finds devices, `take` and `give_back` edit, `roll_back`
/// undoes all edits since a mark; the other functions return placements, values, room and limits.
/// The moves are templates over it, instantiated for `Occupancy`.
template <class S>
concept SearchState = requires(S& state, const S& now, JobId job, MachineId machine,
                               model::JobPlacement placement, std::span<const MachineId> machines,
                               std::size_t quota, typename S::Mark mark) {
  { state.fit(job, machines) } -> std::same_as<std::optional<model::JobPlacement>>;
  state.take(placement);
  state.give_back(job);
  { state.mark() } -> std::same_as<typename S::Mark>;
  state.roll_back(mark);
  state.keep(mark);
  { now.is_placed(job) } -> std::same_as<bool>;
  { now.placed(job) } -> std::convertible_to<const model::JobPlacement&>;
  { now.value_of(job) } -> std::same_as<double>;
  { now.precedence_of(job) } -> std::same_as<planner_model::Precedence>;
  { now.occupants(machine) } -> std::ranges::forward_range;
  { now.changes_since(mark) } -> std::ranges::forward_range;
  { now.entries() } -> std::ranges::random_access_range;
  { now.position(job) } -> std::same_as<std::size_t>;
  { now.machines() } -> std::ranges::forward_range;
  { now.evictable_jobs(quota) } -> std::ranges::forward_range;
  { now.room() } -> std::convertible_to<const planner_model::Room&>;
  { now.limit_usage() } -> std::convertible_to<const planner_model::LimitUsage&>;
  { now.index() } -> std::convertible_to<const DomainIndex&>;
  { now.valuation() } -> std::convertible_to<const planner_model::Valuation&>;
};

}  // namespace berth::solver
