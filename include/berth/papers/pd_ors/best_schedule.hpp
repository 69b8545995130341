// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/papers/pd_ors/slot_offer.hpp"

namespace berth::papers::pd_ors {

/// A schedule and what it is worth at the ledger's prices.
struct ScheduleOffer {
  double payoff = 0.0;  ///< utility - cost, > 0; 0: no schedule is worth its cost
  double cost = 0.0;
  JobSchedule schedule = {};
};

/// What a schedule is asked for.
struct ScheduleQuery {
  std::int32_t from = 0;     ///< first slot, >= the arrival
  double samples = 1.0;      ///< left to train
  std::int32_t units = 100;  ///< equal parts of them: a slot trains whole parts, none too few
  Room room = Room::left;
  double price_factor = 1.0;  ///< of all prices
};

/// PD-ORS's Algorithms 2 and 3, and OASiS's best schedule: over completions t,
///
///   max u(t - a) - Theta(t, V),
///   Theta(t, V) = min over v of theta(t, v) + Theta(t - 1, V - v).
///
/// Exact for these parts if the solver is. Ties: the earliest completion.
/// O(T (units^2 + units x solver))
[[nodiscard]] ScheduleOffer best_schedule(const TrainingJob& job, const SlotLedger& ledger,
                                          const SlotSolver& solver, const ScheduleQuery& query);

}  // namespace berth::papers::pd_ors
