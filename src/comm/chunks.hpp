// SPDX-License-Identifier: Apache-2.0
// How bytes beyond MPI's int counts are cut into rounds. Arithmetic alone: tested at sizes that no
// machine of ours could send.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace berth::comm {

constexpr std::size_t kChunkBytes = std::size_t{1} << 30;  // half of what an int can count
static_assert(kChunkBytes <= std::numeric_limits<int>::max());

/// Calls f(first, count) until `total` elements are covered, at most `limit` bytes a time.
template <class F>
void each_chunk(std::size_t total, std::size_t element_bytes, std::size_t limit, F f) {
  const std::size_t most = std::max<std::size_t>(1, limit / element_bytes);
  for (std::size_t first = 0; first < total; first += most) {
    f(first, static_cast<int>(std::min(most, total - first)));
  }
}

/// What one rank may give in a round, so that all together stay below the limit.
inline std::uint64_t bytes_per_rank(std::size_t limit, std::size_t ranks) {
  return std::max<std::uint64_t>(1, limit / ranks);
}

/// Where the bytes of one round lie when they are packed end to end by rank: of each rank those
/// from `offset` on, at most `piece`.
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
