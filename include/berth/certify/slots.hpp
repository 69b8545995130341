// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// The judge of total utility in slots of time: jobs that train with workers and parameter servers
/// on machines, any numbers of both in every slot (PD-ORS, OASiS; docs/papers.md). It shares no
/// code with those who schedule or choose prices.
namespace berth::certify {

/// Amounts of resources are in any unit, one a resource. Finite, >= 0.
struct SlotTraining {
  std::int32_t arrival = 0;         ///< the first slot that it may use
  double samples = 1.0;             ///< to train, > 0
  std::int32_t max_workers = 1;     ///< in a slot
  double workers_per_server = 1.0;  ///< > 0: w workers need at least w / it servers
  /// Slots that a sample costs a worker, all on one machine or not: 0 < internal <= external.
  double internal_cost = 1.0, external_cost = 1.0;
  std::vector<double> worker = {}, server = {};  ///< demands by resource
  std::vector<double> utility = {};  ///< by slots from arrival to the last one used, to the end
};

struct SlotTrainings {
  std::int32_t slots = 1;
  std::size_t resources = 1;
  std::vector<double> capacity = {};  ///< by machine, then resource
  std::vector<SlotTraining> jobs = {};
};

/// A unit of a price of slots.
inline constexpr int kSlotPriceLog2 = 32;

/// Upper bound of the total utility of every schedule, one that knows all arrivals too, by weak
/// duality. For any prices p >= 0 it is
///
///   sum_i max(0, max over t of u_i(t) - rent_i(t)) + sum_t sum_r p C,
///
/// rent_i(t) the least rent of workers in slots up to t that train all samples: fractions of
/// workers with fractions of servers, in a cluster that is one pool, as fast as on one machine up
/// to as many workers as an empty machine holds, beyond on a line to the most at the speed on
/// several; a worker does all the work of its job in a slot at most. Sums are integers, rounded so
/// that the bound holds; the result is rounded up.
/// @param prices  by slot, then resource, in 2^-kSlotPriceLog2
/// @throws InputError: a price below 0 or above 2^60, amounts beyond 2^30, utilities beyond 2^40,
/// more than 4,096
///         slots, lists of other sizes
/// O(jobs T^2 log T + T R machines)
[[nodiscard]] double prove_slots(const SlotTrainings& trainings,
                                 std::span<const std::int64_t> prices);

}  // namespace berth::certify
