// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// The judge of the utility of work accumulated in slots (GADGET; docs/papers.md). It shares no
/// code with those who schedule or choose prices.
namespace berth::certify {

struct WorkJob {
  std::int32_t arrival = 0;          ///< the first slot that it may use
  std::int32_t most = 1;             ///< workers in a slot, one GPU each
  std::vector<double> utility = {};  ///< by worker-slots over its life, 0 .. its budget
};

/// A unit of a price of a GPU for a slot.
inline constexpr int kWorkPriceLog2 = 32;

/// Upper bound of the total utility of every schedule, one that knows all arrivals too, by weak
/// duality, without servers and links. For any prices p >= 0 it is
///
///   gpus sum_t p_t + sum_i max over n of u_i(n) - rent_i(n),
///
/// rent_i(n) that of n worker-slots in the cheapest slots from the arrival on, `most` in each.
/// Sums are integers; the result is rounded up.
/// @param prices  by slot, in 2^-kWorkPriceLog2
/// @throws InputError: prices out of 0 .. 2^60, one for each of at most 4,096 slots; a job, by
///         number, that arrives in no slot, without workers, with no utility or any out of 0 ..
///         2^40
/// O(jobs (slots log slots + budget))
[[nodiscard]] double prove_worker_slots(std::span<const WorkJob> jobs, std::int64_t gpus,
                                        std::span<const std::int64_t> prices);

}  // namespace berth::certify
