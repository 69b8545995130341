// SPDX-License-Identifier: Apache-2.0
// What a shard offers, what it would gain by a job, and that it keeps its word.
#include "berth/solver/shard_bidding.hpp"

#include "shard_builder.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace berth::solver {
namespace {

using test::on;

/// Machine 0 holds a job worth 4 (1 a GPU), machine 1 one worth 2 on two of its GPUs.
struct TwoMachines {
  test::InstanceBuilder plan = test::one_rack(2);
  JobId full = plan.job({.gpus = 4, .weight = 1.0});
  JobId half = plan.job({.gpus = 2, .weight = 1.0});
  JobId pair = plan.job({.gpus = 2, .weight = 0.25});
  JobId large = plan.job({.gpus = 4, .weight = 3.0});
  test::WholeShard s{plan};

  TwoMachines() {
    s.shard.restore({.placed = {on(full, 0, 15), on(half, 1, 3)}, .unplaced = {pair}});
  }
};

TEST(ShardBidding, offers_what_the_prices_leave_a_profit) {
  TwoMachines t;
  ASSERT_EQ(offers(t.s.shard).size(), 1U);
  EXPECT_DOUBLE_EQ(offers(t.s.shard).front().regret, 0.5);
  t.s.shard.update_prices(std::vector{0.2});
  EXPECT_DOUBLE_EQ(offers(t.s.shard).front().regret, 0.5 - 2 * 0.2);
  t.s.shard.update_prices(std::vector{0.3});
  EXPECT_TRUE(offers(t.s.shard).empty());
}

TEST(ShardBidding, bids_the_gain_and_realises_it) {
  TwoMachines t;
  const auto found = bids(t.s.shard, std::vector{t.pair, t.large});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_DOUBLE_EQ(found[0].gain, 0.5);         // idle room
  EXPECT_DOUBLE_EQ(found[1].gain, 12.0 - 2.0);  // the job worth 2 leaves
  EXPECT_DOUBLE_EQ(realise(t.s.shard, t.large, found[1].gain), 10.0);
  EXPECT_TRUE(t.s.shard.is_waiting(t.half));
  EXPECT_EQ(t.s.shard.content().evicted, std::vector{t.half});
  EXPECT_DOUBLE_EQ(t.s.shard.value(), 16.0);
}

TEST(ShardBidding, leaves_no_trace_of_a_job_it_refuses) {
  TwoMachines t;
  EXPECT_EQ(realise(t.s.shard, t.large, 11.0), 0.0);
  EXPECT_EQ(t.s.shard.jobs().size(), 3U);  // of another shard: not held
  EXPECT_EQ(realise(t.s.shard, t.pair, 1.0), 0.0);
  EXPECT_TRUE(t.s.shard.is_waiting(t.pair));  // its own: still there
  EXPECT_DOUBLE_EQ(t.s.shard.value(), 6.0);
}

TEST(ShardBidding, prices_a_gpu_by_what_leaves_for_it) {
  TwoMachines t;
  EXPECT_EQ(marginal_prices(t.s.shard), std::vector{0.0});  // one is idle
  const auto least = eviction_costs(t.s.shard).front().least;
  EXPECT_DOUBLE_EQ(least[1], 0.0);  // two GPUs are
  EXPECT_DOUBLE_EQ(least[2], 2.0);  // two more at 1 each
  EXPECT_EQ(least[4], std::numeric_limits<double>::infinity());
  realise(t.s.shard, t.pair, 0.0);
  EXPECT_EQ(marginal_prices(t.s.shard), std::vector{0.25});
}

}  // namespace
}  // namespace berth::solver
