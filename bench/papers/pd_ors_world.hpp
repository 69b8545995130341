// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/papers/pd_ors/slot_instance.hpp"

namespace berth::bench {

/// Workload of PD-ORS's synthetic experiment as it is remembered; what no source confirms is a
/// parameter, and its value ours.
struct SlotWorldOptions {
  std::int32_t slots = 20;                     ///< T; remembered
  std::size_t machines = 20;                   ///< ours: 8 GPUs, 72 vCPUs, 192 GB, 500 GB each
  std::size_t jobs = 50;                       ///< remembered
  double slot_seconds = 3600;                  ///< ours: what makes time and bandwidth fit together
  double work = 1.0;                           ///< factor of the samples; ours
  double insensitive = 0.1, sensitive = 0.55;  ///< shares of jobs; remembered. Others: critical
};

struct SlotWorld {
  papers::pd_ors::SlotInstance instance;
  std::vector<std::int32_t> fixed_workers;  ///< of FIFO: uniform in 1 .. 30, at most F
  double feasible = 0.0;  ///< share of jobs that could end within the slots on an empty cluster
};

[[nodiscard]] SlotWorld make_slot_world(const SlotWorldOptions& options, std::uint64_t seed);

}  // namespace berth::bench
