// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/papers/pd_ors/slot_instance.hpp"

/// Baselines of PD-ORS without prices. Both place task by task on the machine whose largest share
/// of a resource in use is least (ties: the first); a job counts as on one machine only where it
/// happens to be.
namespace berth::papers::pd_ors {

/// First in, first out: a job keeps its fixed number of workers and its machines from start to
/// completion; who does not fit waits, and all behind it. O(T jobs tasks machines R)
/// @param workers  by job, 1 .. F
[[nodiscard]] std::vector<JobSchedule> fifo_schedules(const SlotInstance& instance,
                                                      std::span<const std::int32_t> workers);

/// Dominant resource fairness (Ghodsi et al., NSDI 2011): every slot afresh, a worker with the
/// server it needs goes to the unfinished job of least dominant share (ties: the first), until one
/// does not fit. O(T tasks (jobs + machines R))
[[nodiscard]] std::vector<JobSchedule> drf_schedules(const SlotInstance& instance);

}  // namespace berth::papers::pd_ors
