// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/policy/state.hpp"

/// What policies share that divide all GPUs anew in every slot.
namespace berth::papers {

/// Jobs whose GPUs a slot decides, and GPUs for them.
struct SlotSupply {
  std::vector<JobId> jobs;  ///< ascending
  double gpus = 0.0;
};

/// Jobs that cannot be preempted keep what they have; jobs without GPUs start if they fit.
SlotSupply begin_slot(policy::State& state);

/// Configurations by ascending GPUs, one for each number of them.
std::vector<std::uint32_t> configurations_by_size(const policy::State& state, JobId job);

struct SizedJob {
  JobId job;
  std::vector<std::uint32_t> configurations;  ///< ascending GPUs
  std::int32_t chosen = -1;                   ///< index into them; -1: none
};

/// Stops and shrinks first, then grows and starts: a size that fits on no machines is replaced by
/// the next smaller one.
void carry_out(policy::State& state, std::span<const SizedJob> jobs);

}  // namespace berth::papers
