// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth::papers {

/// A job that may run on any number of GPUs.
struct FlowJob {
  double remaining = 0.0;     ///< work, > 0
  std::vector<double> rates;  ///< work in a second by GPUs: 0 for none, > 0 for one
  std::int32_t held = 0;      ///< GPUs now
  double pause = 0.0;         ///< seconds without progress when its GPUs change
};

/// What an allocation is worth: GPUs that maximise sum over jobs of
///
///   v_k rate_j(c_j) / rate_j(1),  v_k = k (1 - (1 - 1/k)^q)^(1/q),
///
/// with k the rank of the job by its time left on one GPU, 1 the longest, and q = 1 / (1 - p). This
/// is the least total completion time when every rate grows as GPUs^p (heSRPT: Berg, Vesilo and
/// Harchol-Balter 2020). q = 1 shares evenly by speed-up; infinite q weighs by rank: for linear
/// rates the shortest job has all.
///
/// Rates need not be concave: GPUs are given in the steps of their concave hull. When the next step
/// does not fit the best that fits is taken. O(jobs GPUs (jobs + GPUs)) at worst
std::vector<std::int32_t> allocate_by_rank(std::span<const FlowJob> jobs, std::int32_t gpus,
                                           double q);

/// Optimus (Peng et al., EuroSys 2018): a GPU to each job in order while there are some, then GPU
/// by GPU to the job whose time left falls most. O(GPUs jobs)
std::vector<std::int32_t> allocate_by_gain(std::span<const FlowJob> jobs, std::int32_t gpus);

/// Total seconds to completion of all jobs: these GPUs first, after each completion those of
/// `allocate_by_rank`. Changes of GPUs cost their pauses. No job arrives. Infinite: a job never
/// ends. O(jobs) allocations
double total_flow(std::span<const FlowJob> jobs, std::int32_t gpus,
                  std::span<const std::int32_t> first, double q);

/// The allocation of least `total_flow` among those of several q, and what is held now with free
/// GPUs given out. Never worse, by that measure, than keeping what is held. Ties: the latter.
std::vector<std::int32_t> choose_gpus(std::span<const FlowJob> jobs, std::int32_t gpus);

}  // namespace berth::papers
