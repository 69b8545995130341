// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/papers/gadget/ring_instance.hpp"

namespace berth::papers::gadget {

/// A straight piece of the upper concave envelope of a job's utility by worker-slots.
struct UtilityPiece {
  double slope = 0.0;       ///< utility of a worker-slot
  std::int64_t length = 0;  ///< worker-slots
  std::size_t job = 0;      ///< as the caller counts
};

/// Adds the pieces from `done` worker-slots to `done + more`, slopes falling, without those of
/// slope 0. O(more)
void add_pieces(const RingJob& job, std::size_t index, std::int64_t done, std::int64_t more,
                std::vector<UtilityPiece>& pieces);

/// Steepest first; pieces of a job keep their order.
void sort_pieces(std::vector<UtilityPiece>& pieces);

}  // namespace berth::papers::gadget
