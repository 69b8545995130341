// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "berth/papers/gadget/slot_embedding.hpp"

namespace berth::papers::gadget {

/// What a rule sees of a slot: jobs that have arrived and have some of their budget left.
struct SlotView {
  const RingInstance* instance = nullptr;  ///< jobs other than `jobs` are not known to a rule
  std::int32_t slot = 0;
  std::span<const SlotJob> jobs;  ///< by index
};

/// Rings of the jobs of a slot. Jobs may be stopped and moved between slots without loss.
using SlotRule = std::function<std::vector<Ring>(const SlotView& view)>;

/// Algorithm 1 of the paper: slot by slot, by any rule. @throws InputError as check_instance
[[nodiscard]] RingSchedule run_slots(const RingInstance& instance, const SlotRule& rule);

/// GADGET: each slot by slot_greedy.
[[nodiscard]] std::vector<Ring> gadget_slot(const SlotView& view);

/// Dominant resource fairness (Ghodsi et al., NSDI 2011): the next worker to the job that has the
/// fewest, until none may have more.
[[nodiscard]] std::vector<Ring> drf_slot(const SlotView& view);

/// Fixed numbers of workers in the order of arrival; who does not fit waits, and all behind it.
/// @param workers  by job; numbers beyond a job's budget are cut
[[nodiscard]] SlotRule fifo_rule(std::vector<std::int32_t> workers);

/// Least attained service (Tiresias without its queues): fixed numbers of workers, the job with the
/// fewest worker-slots so far first; who does not fit is passed over.
[[nodiscard]] SlotRule las_rule(std::vector<std::int32_t> workers);

/// Berth's way with the same knowledge and actions: what a job can still earn until the last slot
/// counts, not what the next slot earns. Every slot the rest of the horizon is planned anew as if
/// all GPUs were one pool: worker-slots go to the steepest pieces of the upper concave envelopes of
/// the utilities (which is optimal for that relaxation), the slope being the rent that a job can
/// pay. In this slot first come jobs that could not reach their part later, then others by slope,
/// then idle GPUs are divided as in GADGET. O(jobs (longest budget + N servers log servers)) a slot
[[nodiscard]] std::vector<Ring> berth_slot(const SlotView& view);

/// Upper bound of the total utility of any schedule, one that knows all arrivals too. Relaxes
/// servers and links to their GPUs, utilities to their envelopes U_i, time to
///   max sum_i U_i(n_i), n_i <= min(budget_i, N_i (T - a_i)), sum_{i: a_i >= a} n_i <= G (T - a)
/// for all slots a. These sets of jobs are nested, hence taking the steepest piece as far as it
/// fits, piece by piece, is optimal. O(pieces (log pieces + arrivals))
[[nodiscard]] double utility_bound(const RingInstance& instance);

/// The same with prices of a GPU in each slot that prove it: the slope at which the jobs that
/// arrive then or later ran out of room, at least that of earlier slots.
struct UtilityPrices {
  double bound = 0.0;
  std::vector<double> price;  ///< by slot
};
[[nodiscard]] UtilityPrices utility_prices(const RingInstance& instance);

}  // namespace berth::papers::gadget
