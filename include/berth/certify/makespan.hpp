// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

/// The judge of the makespan of gangs that all wait at the begin and run in whole iterations a slot
/// (SJF-BCO; docs/papers.md). It shares no code with those who schedule.
namespace berth::certify {

struct RingGang {
  std::int32_t gpus = 1;        ///< from its start to its end
  std::int64_t iterations = 1;  ///< >= 1
  /// Least slots of an iteration on 1, 2, .. servers, whatever else runs; the last also for more.
  std::vector<double> slots = {};
};

struct RingGangs {
  std::vector<std::int32_t> servers = {};  ///< GPUs of each
  std::vector<RingGang> jobs = {};
};

/// Slots that every schedule takes at least: a job runs for ceil(iterations / whole iterations of a
/// slot) slots, at the most iterations on any number of servers that can hold it; the longest job,
/// or all GPU-slots over all GPUs. Sums are integers; iterations of a slot are rounded up by 1e-9
/// of them first, as rates are doubles.
/// @throws InputError: a job, by number, that the cluster cannot hold or without sound times; more
///         than 2^40 iterations
/// O(servers log servers + jobs x servers)
[[nodiscard]] std::int64_t prove_makespan(const RingGangs& gangs);

}  // namespace berth::certify
