// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "berth/papers/smd/smd_schedule.hpp"

namespace berth::bench {

/// Amounts of one machine, the unit of a job's limit. The paper names "EC2 C4", which has no GPUs:
/// sizes are ours.
struct MachineSize {
  double gpus, vcpus, memory_gb, storage_gb;
};
inline constexpr MachineSize kSmallMachine{2, 8, 15, 50};
inline constexpr MachineSize kMediumMachine{4, 36, 60, 100};
inline constexpr MachineSize kLargeMachine{8, 64, 256, 200};

/// One point of SMD's experiments.
struct SmdSetting {
  std::size_t jobs = 50;
  double units = 1.0;  ///< of 600 GPUs, 3,400 vCPUs, 1,400 GB memory and 1,200 GB storage
  bool synchronous = true;
  MachineSize machine = kMediumMachine;
  double median_time = 8.0;  ///< of the best completions, in units of the utilities' time
};

/// Jobs with the ranges of the paper's section VI; overlap factors by wait-free communication of
/// the drawn layers. The paper's units of time do not fit together: one factor sets the median best
/// completion.
[[nodiscard]] papers::smd::SmdInstance smd_instance(const SmdSetting& setting, std::uint64_t seed);

}  // namespace berth::bench
