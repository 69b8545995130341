// SPDX-License-Identifier: Apache-2.0
#include "shard/domain_packing.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::solver {
namespace {

/// Expects that racks and pods hold what is placed. @return units placed
std::int64_t placed_units(const std::vector<RoomOfRacks>& pods,
                          const std::vector<DomainItem>& items,
                          const std::vector<ItemPlace>& places) {
  std::vector<RoomOfRacks> left = pods;
  std::vector<std::int64_t> of_pods(pods.size(), 0);
  std::int64_t placed = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (places[i].pod < 0) continue;
    EXPECT_EQ(places[i].rack >= 0, items[i].in_rack);
    const auto pod = static_cast<std::size_t>(places[i].pod);
    placed += items[i].units;
    of_pods[pod] += items[i].units;
    if (!items[i].in_rack) continue;
    left[pod][static_cast<std::size_t>(places[i].rack)] -= items[i].units;
  }
  for (std::size_t p = 0; p < pods.size(); ++p) {
    std::int64_t room = 0;
    for (const std::int64_t units : pods[p]) room += units;
    EXPECT_LE(of_pods[p], room);
    for (const std::int64_t units : left[p]) EXPECT_GE(units, 0);
  }
  return placed;
}

TEST(DomainPacking, SpreadsItemsOfRacksOverPods) {
  const std::vector<RoomOfRacks> pods(2, {8, 8});
  const std::vector<DomainItem> items{
      {5, 1.0, true}, {5, 1.0, true}, {11, 1.0, false}, {11, 1.0, false}};
  EXPECT_EQ(placed_units(pods, items, pack_domains(pods, items)), 32);
}

TEST(DomainPacking, FindsPackingsWithoutSlack) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<RoomOfRacks> pods(8, RoomOfRacks(16, 8));
    std::vector<DomainItem> items;
    for (std::size_t p = 0; p < pods.size(); ++p) {
      std::int64_t left = 128;
      for (std::uint64_t n = 0; left > 0; ++n) {
        const auto drawn = 8 + 4 * static_cast<std::int64_t>(random_below(19, {seed, p, n}));
        items.push_back({std::min(left, drawn), 1.0, false});
        left -= items.back().units;
      }
    }
    EXPECT_EQ(placed_units(pods, items, pack_domains(pods, items)), 8 * 128) << seed;
  }
}

TEST(DomainPacking, PlacesTheMostValue) {
  const std::vector<RoomOfRacks> pods{{8}};
  const std::vector<DomainItem> items{{6, 1.0, true}, {5, 2.0, true}, {3, 1.0, true}};
  const std::vector<ItemPlace> places = pack_domains(pods, items);
  EXPECT_EQ(placed_units(pods, items, places), 8);
}

TEST(DomainPacking, StopsAtItsLimitOfWork) {
  const std::vector<RoomOfRacks> pods{{8}};
  const std::vector<DomainItem> items{{6, 1.0, true}};
  EXPECT_EQ(placed_units(pods, items, pack_domains(pods, items, 10)), 0);
  EXPECT_EQ(placed_units(pods, items, pack_domains(pods, items, 100)), 6);
}

}  // namespace
}  // namespace berth::solver
