// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/grant.hpp"

#include <algorithm>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

#include "berth/coordinator/wire.hpp"

namespace berth::coordinator {
namespace {

using solver::Bid;

std::vector<std::tuple<int, int, double>> rows(const std::vector<Bid>& bids) {
  std::vector<std::tuple<int, int, double>> result;
  for (const Bid& b : bids) result.emplace_back(b.job.value(), b.shard.value(), b.gain);
  return result;
}

Bid bid(int job, int shard, double gain) { return {JobId(job), ShardId(shard), gain}; }

TEST(Grant, gives_each_job_to_its_best_bid_in_order_of_gain) {
  const std::vector<Bid> bids{bid(1, 0, 5.0), bid(1, 2, 7.0), bid(2, 1, 9.0), bid(3, 1, 7.0)};
  EXPECT_EQ(rows(grant(bids, {})),
            (std::vector<std::tuple<int, int, double>>{{2, 1, 9.0}, {1, 2, 7.0}, {3, 1, 7.0}}));
}

TEST(Grant, breaks_ties_by_shard_and_job) {
  const std::vector<Bid> bids{bid(4, 3, 1.0), bid(4, 1, 1.0), bid(0, 2, 1.0)};
  EXPECT_EQ(rows(grant(bids, {})),
            (std::vector<std::tuple<int, int, double>>{{0, 2, 1.0}, {4, 1, 1.0}}));
}

TEST(Grant, leaves_tabu_pairs_alone_and_takes_the_next_best) {
  const std::vector<Bid> bids{bid(1, 0, 5.0), bid(1, 2, 7.0)};
  EXPECT_EQ(rows(grant(bids, {{JobId(1), ShardId(2)}})),
            (std::vector<std::tuple<int, int, double>>{{1, 0, 5.0}}));
  EXPECT_TRUE(grant({}, {}).empty());
}

TEST(Grant, does_not_depend_on_the_order_of_bids) {
  std::vector<Bid> bids;
  for (int job = 0; job < 20; ++job) {
    for (int shard = 0; shard < 5; ++shard)
      bids.push_back(bid(job, shard, (job * 7 + shard * 3) % 4));
  }
  const auto expected = rows(grant(bids, {}));
  std::mt19937 shuffle(7);
  for (int i = 0; i < 10; ++i) {
    std::ranges::shuffle(bids, shuffle);
    EXPECT_EQ(rows(grant(bids, {})), expected);
  }
}

TEST(Wire, brings_placements_back_as_they_were) {
  model::Placement placement(2);
  placement[0] = {JobId(3), 60, {{MachineId(1), 0, 0x8000000000000001ULL, 1000}}};
  placement[1] = {JobId(9), 0, {{MachineId(2), 1, 4, 250}, {MachineId(7), 0, 0, 0}}};
  const auto back = from_wire(to_wire(placement));
  ASSERT_EQ(back.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(back[i].job, placement[i].job);
    EXPECT_EQ(back[i].start, placement[i].start);
    EXPECT_EQ(back[i].tasks, placement[i].tasks);
  }
  EXPECT_TRUE(from_wire({}).empty());
}

}  // namespace
}  // namespace berth::coordinator
