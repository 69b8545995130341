// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/papers/gadget/ring_instance.hpp"

namespace berth::bench {

/// Cluster and jobs of GADGET's evaluation. Not stated for the paper, hence parameters: arrivals
/// (uniform over the slots), the wiring (two to five racks below one core), what budgets count.
struct GadgetSetting {
  std::size_t servers = 50;
  std::size_t jobs = 100;
  std::int32_t slots = 200;
  papers::gadget::WorkUtility family = papers::gadget::WorkUtility::sigmoid;
  papers::gadget::BudgetReading reading = papers::gadget::BudgetReading::iterations;
};

struct GadgetWorld {
  papers::gadget::RingInstance instance;
  std::vector<std::int32_t> fixed;  ///< workers of each job under FIFO and LAS, 1 .. N
};

/// Draws depend on the seed alone, so that the first jobs and servers of settings agree.
GadgetWorld draw_gadget_world(const GadgetSetting& setting, std::uint64_t seed);

/// Worker-slots of a job in the midst of training: uniform up to the turn of its sigmoid.
std::int64_t midway(const papers::gadget::RingJob& job, std::uint64_t seed, std::size_t index);

}  // namespace berth::bench
