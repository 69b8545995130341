// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/grant.hpp"

#include <algorithm>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

namespace berth::coordinator {
namespace {

using solver::Bid;

std::vector<std::tuple<int, int, double>> rows(const std::vector<Bid>& bids) {
  std::vector<std::tuple<int, int, double>> result;
  for (const Bid& b : bids) result.emplace_back(b.job.value(), b.shard.value(), b.gain);
  return result;
}

/// All jobs of one GPU, all shards of a thousand.
Claims plenty() {
  Claims claims;
  for (int i = 0; i < 20; ++i) claims.room[ShardId(i)] = 1000.0, claims.gpus[JobId(i)] = 1.0;
  return claims;
}

std::vector<Bid> grant_all(const std::vector<Bid>& bids, const TabuPairs& tabu,
                           const Claims& claims = plenty()) {
  strads::Versions versions;
  return grant(bids, tabu, claims, versions);
}

Bid bid(int job, int shard, double gain) { return {JobId(job), ShardId(shard), gain}; }

TEST(Grant, gives_each_job_to_its_best_bid_in_order_of_gain) {
  const std::vector<Bid> bids{bid(1, 0, 5.0), bid(1, 2, 7.0), bid(2, 1, 9.0), bid(3, 1, 7.0)};
  EXPECT_EQ(rows(grant_all(bids, {})),
            (std::vector<std::tuple<int, int, double>>{{2, 1, 9.0}, {1, 2, 7.0}, {3, 1, 7.0}}));
}

TEST(Grant, breaks_ties_by_shard_and_job) {
  const std::vector<Bid> bids{bid(4, 3, 1.0), bid(4, 1, 1.0), bid(0, 2, 1.0)};
  EXPECT_EQ(rows(grant_all(bids, {})),
            (std::vector<std::tuple<int, int, double>>{{0, 2, 1.0}, {4, 1, 1.0}}));
}

TEST(Grant, breaks_ties_by_precedence_where_it_knows_it) {
  const std::vector<Bid> bids{bid(0, 1, 1.0), bid(1, 1, 1.0), bid(2, 1, 2.0)};
  Claims claims = plenty();
  claims.rank = {{JobId(0), 1}, {JobId(1), 0}, {JobId(2), 2}};
  EXPECT_EQ(rows(grant_all(bids, {}, claims)),
            (std::vector<std::tuple<int, int, double>>{{2, 1, 2.0}, {1, 1, 1.0}, {0, 1, 1.0}}));
}

TEST(Grant, leaves_tabu_pairs_alone_and_takes_the_next_best) {
  const std::vector<Bid> bids{bid(1, 0, 5.0), bid(1, 2, 7.0)};
  EXPECT_EQ(rows(grant_all(bids, {{JobId(1), ShardId(2)}})),
            (std::vector<std::tuple<int, int, double>>{{1, 0, 5.0}}));
  EXPECT_TRUE(grant_all({}, {}).empty());
}

TEST(Grant, does_not_depend_on_the_order_of_bids) {
  std::vector<Bid> bids;
  for (int job = 0; job < 20; ++job) {
    for (int shard = 0; shard < 5; ++shard)
      bids.push_back(bid(job, shard, (job * 7 + shard * 3) % 4));
  }
  const auto expected = rows(grant_all(bids, {}));
  std::mt19937 shuffle(7);
  for (int i = 0; i < 10; ++i) {
    std::ranges::shuffle(bids, shuffle);
    EXPECT_EQ(rows(grant_all(bids, {})), expected);
  }
}

TEST(Grant, asks_a_shard_for_no_more_than_its_room_and_goes_to_the_next) {
  Claims claims = plenty();
  claims.room[ShardId(0)] = 10.0;
  for (const int job : {1, 2, 3}) claims.gpus[JobId(job)] = 6.0;
  const std::vector<Bid> bids{bid(1, 0, 5.0), bid(2, 0, 4.0), bid(2, 1, 1.0), bid(3, 0, 2.0)};
  EXPECT_EQ(rows(grant_all(bids, {}, claims)),
            (std::vector<std::tuple<int, int, double>>{{1, 0, 5.0}, {2, 1, 1.0}}));
}

TEST(Grant, always_allows_a_shard_its_largest_bid) {
  Claims claims = plenty();
  claims.room[ShardId(0)] = 10.0;
  claims.gpus[JobId(1)] = 64.0;
  EXPECT_EQ(grant_all({bid(1, 0, 5.0)}, {}, claims).size(), 1U);
}

TEST(Grant, refuses_jobs_that_have_changed_since_they_were_offered) {
  strads::Versions versions;
  const std::vector<Bid> bids{bid(1, 0, 5.0)};
  EXPECT_EQ(grant(bids, {}, plenty(), versions).size(), 1U);
  EXPECT_TRUE(grant(bids, {}, plenty(), versions).empty());  // the same bids once more
  Claims again = plenty();
  again.versions[JobId(1)] = 1;
  EXPECT_EQ(grant(bids, {}, again, versions).size(), 1U);
}

}  // namespace
}  // namespace berth::coordinator
