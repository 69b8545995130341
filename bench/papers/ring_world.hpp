// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "berth/model/cluster.hpp"
#include "berth/papers/sjf_bco/ring_batch.hpp"
#include "berth/speed/ring_contention.hpp"

namespace berth::bench {

/// How rings slow each other down. The paper gives none of the constants.
enum class RingSetting {
  /// Extra = 15 % of the time of an iteration x min(1, (jobs on the worst link + servers) / 8).
  capped,
  /// Equation (8): alone across servers the transfer is 5 % of the computation x 2 (w - 1) / w,
  /// alpha 0.2, xi2 0.0005 slots, no cap.
  weak,
};

/// One instance: the batch and what it refers to.
struct RingWorld {
  RingSetting setting = RingSetting::capped;
  model::Cluster cluster;
  std::vector<speed::RingJob> rings;
  std::vector<std::unique_ptr<const speed::Model>> models;
  papers::RingBatch batch;  ///< in submission order

  /// Slots of an iteration of the job alone on so many servers.
  [[nodiscard]] double alone(std::size_t job, std::size_t servers) const;
};

/// Servers of 4 to 32 GPUs; jobs of the paper's sizes (160 in full), 1 of `thin` of each size. Run
/// times of 50 to 300 slots.
std::unique_ptr<RingWorld> draw_rings(RingSetting setting, std::size_t servers, std::size_t thin,
                                      std::uint64_t seed);

/// A cluster of one rack with these GPUs, rings without limits of their machines.
model::Cluster one_rack(const std::vector<std::int32_t>& servers);

}  // namespace berth::bench
