// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "berth/papers/pd_ors/pooled_bound.hpp"
#include "berth/papers/pd_ors/slot_instance.hpp"

namespace berth::papers::pd_ors {

/// Chosen, not tuned.
struct ReplanOptions {
  std::int32_t units = 40;    ///< parts of a job's work left (best_schedule)
  int repairs = 60;           ///< rounds of taking out jobs and putting them back, each slot
  std::uint64_t largest = 5;  ///< most jobs taken out at once
  PooledOptions prices{.gap = 1e-2, .rounds = 25};
  std::uint64_t seed = 1;
  /// True: the actions of PD-ORS and OASiS. A job is admitted in the slot of its arrival, with all
  /// its slots and machines, or never; jobs that arrive in one slot are decided together.
  bool irrevocable = false;
};

/// Berth's way with the same jobs: nothing is promised, so that every slot is decided by a new plan
/// of all that have arrived and can still end. Prices of the pool (pooled_bound) say which jobs and
/// which slots are worth their resources; jobs are placed on machines at these prices, then without
/// them, in several orders beside the last plan, and the best plan is repaired. Only the present
/// slot of it is carried out. Knows nothing of later arrivals. The schedules obey the judge
/// (total_utility). @pre a PetscSession lives
/// O(T (repairs + jobs) x best_schedule)
[[nodiscard]] std::vector<JobSchedule> replanned_schedules(const SlotInstance& instance,
                                                           const ReplanOptions& options = {});

}  // namespace berth::papers::pd_ors
