// SPDX-License-Identifier: Apache-2.0
// Counts beyond what an int holds, without the memory to send them.
#include "chunks.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace berth::comm {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST(EachChunk, covers_more_than_an_int_counts_in_order) {
  for (const std::size_t element : {1, 8, 12}) {
    for (const std::size_t total :
         {std::size_t{0}, std::size_t{1}, std::size_t{2 * kGiB - 1}, std::size_t{2 * kGiB},
          std::size_t{4 * kGiB + 5}, std::size_t{(std::uint64_t{1} << 40) + 3}}) {
      SCOPED_TRACE(testing::Message() << total << " elements of " << element << " bytes");
      std::size_t next = 0;
      each_chunk(total, element, kChunkBytes, [&](std::size_t first, int count) {
        EXPECT_EQ(first, next);
        ASSERT_GT(count, 0);
        EXPECT_LE(static_cast<std::size_t>(count) * element, kChunkBytes);
        next = first + static_cast<std::size_t>(count);
      });
      EXPECT_EQ(next, total);
    }
  }
}

TEST(ChunkLayout, all_rounds_together_carry_every_byte_once) {
  const std::vector<std::uint64_t> sizes{3 * kGiB + 5, 0, 5 * kGiB, 1, 2 * kGiB, 4 * kGiB};
  const std::uint64_t piece = bytes_per_rank(kChunkBytes, sizes.size());
  std::vector<std::uint64_t> carried(sizes.size(), 0);
  for (std::uint64_t offset = 0; offset < 5 * kGiB; offset += piece) {
    const ChunkLayout layout(sizes, offset, piece);
    EXPECT_LE(layout.total, kChunkBytes);
    std::uint64_t begin = 0;
    for (std::size_t r = 0; r < sizes.size(); ++r) {
      ASSERT_GE(layout.counts[r], 0);
      ASSERT_EQ(static_cast<std::uint64_t>(layout.displacements[r]), begin);
      EXPECT_TRUE(layout.counts[r] == 0 || carried[r] == offset);
      begin += static_cast<std::uint64_t>(layout.counts[r]);
      carried[r] += static_cast<std::uint64_t>(layout.counts[r]);
    }
    EXPECT_EQ(layout.total, begin);
  }
  EXPECT_EQ(carried, sizes);
}

}  // namespace
}  // namespace berth::comm
