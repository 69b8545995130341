// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace berth::policy {

inline constexpr std::int64_t kShareClass = 540;  ///< stands for all shares of one GPU (their mean)

/// GPU thousandths one job asks for in all (0 = CPU only, kShareClass = a share), and how many jobs
/// do so.
struct SizeCount {
  std::int64_t milli = 0;
  std::int64_t jobs = 0;
};

/// GPU thousandths a job asks for on average, when no job may exceed `max_gpus`.
double mean_milli(std::int64_t max_gpus);

/// Splits `jobs` by size, ascending, so that the sizes sum to about `total_milli`: the published
/// mix, each size w of 1 GPU and more re-weighted by w^t with t found by bisection.
std::vector<SizeCount> job_mix(std::int64_t jobs, std::int64_t total_milli, std::int64_t max_gpus);

}  // namespace berth::policy
