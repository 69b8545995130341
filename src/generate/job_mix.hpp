// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/generate/generate.hpp"

namespace berth::generate {

/// One row of a mix: GPU thousandths a job asks for in all (0 = CPU only, below 1000 a share of one
/// GPU), and the share of the jobs that do, of any sum. Mixes ascend by size.
struct SizeShare {
  std::int64_t milli = 0;
  double share = 0.0;
};
using Mix = std::vector<SizeShare>;

/// The largest job allowed on a cluster: a `part`-th of it; small clusters give one machine of 8
/// GPUs or all they have.
std::int64_t max_job_gpus(std::int64_t gpus, std::int64_t part);

/// Without the sizes above `max_gpus`.
Mix without_above(std::span<const SizeShare> mix, std::int64_t max_gpus);

/// Sizes above `max_gpus` become that size, in whole machines of 8 GPUs when more than one.
Mix cut_at(std::span<const SizeShare> mix, std::int64_t max_gpus);

/// Size of every job, the mix dealt out in exact proportion and in an order drawn from the seed.
/// `jobs` < 0: as many as the mix needs for the load; otherwise every size w of 1 GPU and more is
/// re-weighted by w^t, with t found by bisection so that the sizes sum to about the load.
std::vector<std::int64_t> deal_sizes(const GenerateOptions& options, const Mix& mix);

/// Size of every job, drawn one by one until they ask for the load: rare large sizes come as chance
/// has it. A size that would pass the load gives way to the largest that does not, so the sum falls
/// short by less than the smallest size. `jobs` >= 0: deal_sizes.
std::vector<std::int64_t> draw_sizes(const GenerateOptions& options, const Mix& mix);

}  // namespace berth::generate
