// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// The judge of completions of jobs that may change their size (ONES, SLAQ; docs/papers.md). It
/// shares no code with those who schedule. Both proofs take the cluster as one machine that works
/// on one job at a time, preempted at will: an order on it that is optimal bounds all schedules.
namespace berth::certify {

/// A job of `work`, done at rate[g - 1] on g of the cluster's units (GPUs, cores).
struct MalleableJob {
  double release = 0.0;  ///< seconds
  double work = 0.0;
  std::vector<double> rate = {};  ///< work a second, the most in any place; > 0
};

/// No schedule has a smaller sum of (completion - release) in seconds, one that knows all jobs too:
/// each job takes at least its work at its highest rate; and at its most work a unit and second,
/// shortest remaining time first on all units together has the least sum (Schrage 1968). The larger
/// of both. In integers of 2^-24 s of a unit, rounded so that the bound holds.
/// @throws InputError: a job, by number, with values out of range: 0 <= release <= 2^30, 0 <= work,
///         at most 2^40 seconds of a unit, 1 .. units rates; units out of 1 .. 2^20
/// O(jobs (rates + log jobs))
[[nodiscard]] double prove_total_flow(std::span<const MalleableJob> jobs, std::int32_t units);

/// Seconds of a unit and what they earn, in order.
struct EarningPiece {
  double work = 0.0, value = 0.0;  ///< >= 0; a part of a piece earns its part of the value
};

struct EarningJob {
  double release = 0.0;  ///< seconds
  std::vector<EarningPiece> pieces = {};
};

/// No schedule has a smaller sum over jobs of the integral over time, from release on, of the value
/// not yet earned: with pieces joined so that value by work falls in each job (which earns no less
/// at any work), most value by work first on all units together earns most at every time. Integers
/// of 2^-24 s of a unit and 2^-30 of value.
/// @throws InputError as above; values above 2^10, more than 2^20 pieces of a job
/// O(pieces log jobs)
[[nodiscard]] double prove_total_unearned(std::span<const EarningJob> jobs, std::int32_t units);

}  // namespace berth::certify
