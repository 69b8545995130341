// SPDX-License-Identifier: Apache-2.0
#include "berth/comm/patterns.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::comm {
namespace {

struct Parcel {
  std::int32_t owner, source, order;
  bool operator==(const Parcel&) const = default;
};

std::vector<Parcel> parcels_of(std::uint64_t seed, int rank, int ranks) {
  const auto r = static_cast<std::uint64_t>(rank);
  std::vector<Parcel> parcels(random_below(30, {seed, r}));
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const auto owner = random_below(static_cast<std::uint64_t>(ranks), {seed, r, i});
    parcels[i] = {static_cast<std::int32_t>(owner), rank, static_cast<std::int32_t>(i)};
  }
  return parcels;
}

// Oracle: every rank gets all items and keeps its own.
TEST(ExchangeByOwner, is_the_naive_all_gather) {
  const auto world = Communicator::world();
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", rank " << world.rank());
    const auto mine = parcels_of(seed, world.rank(), world.size());
    std::vector<int> owners;
    for (const Parcel& parcel : mine) owners.push_back(parcel.owner);
    const auto delivered = exchange_by_owner<Parcel>(world, mine, owners);

    std::vector<Parcel> expected = world.all_gather_varying<Parcel>(mine);
    std::erase_if(expected, [&](const Parcel& parcel) { return parcel.owner != world.rank(); });
    EXPECT_EQ(delivered, expected);
  }
}

TEST(ExchangeByOwner, nothing_to_send_is_fine) {
  const auto world = Communicator::world();
  EXPECT_TRUE(exchange_by_owner<Parcel>(world, {}, {}).empty());
}

// Tests run on one machine; a rank's cores are invented.
TEST(RanksSharing, counts_overlapping_core_sets) {
  const auto world = Communicator::world();
  const std::vector<std::int32_t> own{2 * world.rank(), 2 * world.rank() + 1};
  EXPECT_EQ(ranks_sharing(world, own), 1);
  EXPECT_EQ(ranks_sharing(world, {}), world.size());
  const std::vector<std::int32_t> chain{world.rank(), world.rank() + 1};
  const int neighbours = (world.rank() > 0) + (world.rank() + 1 < world.size());
  EXPECT_EQ(ranks_sharing(world, chain), 1 + neighbours);
}

}  // namespace
}  // namespace berth::comm
