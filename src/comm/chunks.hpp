// SPDX-License-Identifier: Apache-2.0
// Splits messages beyond MPI's int counts into rounds. Arithmetic only, so it is tested at sizes
// that the test machines could not send.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace berth::comm {

constexpr std::size_t kChunkBytes = std::size_t{1} << 30;  // bytes; half of what an int can count
static_assert(kChunkBytes <= std::numeric_limits<int>::max());

/// Calls f(first, count) until `total` elements are covered, with at most `limit` bytes a call.
template <class F>
void each_chunk(std::size_t total, std::size_t element_bytes, std::size_t limit, F f) {
  const std::size_t most = std::max<std::size_t>(1, limit / element_bytes);
  for (std::size_t first = 0; first < total; first += most) {
    f(first, static_cast<int>(std::min(most, total - first)));
  }
}

/// Bytes that one rank may give in a round, so that all ranks together stay below the limit.
inline std::uint64_t bytes_per_rank(std::size_t limit, std::size_t ranks) {
  return std::max<std::uint64_t>(1, limit / ranks);
}

/// Positions of the bytes of one round, packed end to end by rank: of each rank the bytes from
/// `offset` on, at most `piece`.
struct ChunkLayout {
  std::vector<int> counts;
  std::vector<int> displacements;
  std::size_t total = 0;

  ChunkLayout(std::span<const std::uint64_t> sizes, std::uint64_t offset, std::uint64_t piece) {
    for (const std::uint64_t size : sizes) {
      const std::uint64_t count = std::min(size - std::min(size, offset), piece);
      counts.push_back(static_cast<int>(count));
      displacements.push_back(static_cast<int>(total));
      total += static_cast<std::size_t>(count);
    }
  }
};

}  // namespace berth::comm
