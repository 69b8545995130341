// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/generate/generate.hpp"

namespace berth::generate {

/// One row of a mix: GPU thousandths of a job in all (0 = CPU only, below 1000 a share of one GPU),
/// and the relative frequency of such jobs. Mixes are in ascending order of size.
struct SizeShare {
  std::int64_t milli = 0;
  double share = 0.0;
};
using Mix = std::vector<SizeShare>;

/// The largest job allowed on a cluster: 1/`part` of its GPUs; on small clusters one machine of 8
/// GPUs, or all GPUs.
std::int64_t max_job_gpus(std::int64_t gpus, std::int64_t part);

/// The mix without the sizes above `max_gpus`.
Mix without_above(std::span<const SizeShare> mix, std::int64_t max_gpus);

/// The mix with sizes above `max_gpus` replaced by that size, in whole machines of 8 GPUs when more
/// than one.
Mix cut_at(std::span<const SizeShare> mix, std::int64_t max_gpus);

/// Size of every job: the mix in exact proportion, in an order drawn from the seed. `jobs` < 0: the
/// number that the mix needs for the load; otherwise every size w of 1 GPU and more is re-weighted
/// by w^t, with t found by bisection so that the sizes sum to about the load.
std::vector<std::int64_t> deal_sizes(const GenerateOptions& options, const Mix& mix);

/// Size of every job, drawn one by one until they ask for the load, so the number of large jobs is
/// random. A size that would exceed the load is replaced by the largest that does not, so the sum
/// falls short by less than the smallest size. `jobs` >= 0: deal_sizes.
std::vector<std::int64_t> draw_sizes(const GenerateOptions& options, const Mix& mix);

}  // namespace berth::generate
