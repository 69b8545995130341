// SPDX-License-Identifier: Apache-2.0
// What the model says of messages on all ranks, from a few, is what all ranks then measure.
#include "berth/scale/sweep.hpp"

#include "with_petsc.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "berth/base/error.hpp"
#include "berth/comm/error.hpp"
#include "berth/generate/generate.hpp"

namespace berth::scale {
namespace {

class SweepTest : public berth::test::WithPetsc<> {
 protected:
  static SweepOptions options(std::vector<int> ranks) {
    SweepOptions options;
    options.ranks = std::move(ranks);
    options.measure.plan.partition.shards = 4;
    options.measure.repeats = 1;
    return options;
  }
  static model::Instance cluster(std::int64_t gpus) {
    return generate::generate_hetero({.gpus = gpus, .seed = 1});
  }
};

TEST_F(SweepTest, model_counts_the_messages_of_all_ranks_from_fewer) {
  const auto world = comm::Communicator::world();
  if (world.size() < 16) GTEST_SKIP() << "skipped: needs 16 ranks";
  const auto sweep = run_sweep(
      world, [](int) { return cluster(512); }, options({2, 3, 4, world.size()}));
  if (world.rank() != 0) return;
  const std::span<const ScalingPoint> few(sweep.points.data(), 3);
  const ScalingPoint& all = sweep.points.back();
  ASSERT_EQ(all.ranks, 16);
  EXPECT_GT(all.rounds, 0);
  const auto modelled = forecast_calls(few, Scaling::strong, all.ranks);
  ASSERT_EQ(modelled.size(), all.calls.size());
  for (std::size_t i = 0; i < modelled.size(); ++i) {
    SCOPED_TRACE(testing::Message() << modelled[i].stage << " " << comm::name(modelled[i].call));
    EXPECT_EQ(modelled[i].stage, all.calls[i].stage);
    EXPECT_EQ(modelled[i].call, all.calls[i].call);
    EXPECT_EQ(modelled[i].messages, all.calls[i].messages);
    const bool own_share_counts =
        modelled[i].call != comm::Call::gather && modelled[i].call != comm::Call::all_to_all;
    if (own_share_counts) {  // else the owner of a shard matters
      EXPECT_EQ(modelled[i].bytes, all.calls[i].bytes);
    }
  }
}

TEST_F(SweepTest, points_tell_the_same_plan_and_who_did_what) {
  const auto world = comm::Communicator::world();
  const auto sweep = run_sweep(
      world, [](int) { return cluster(256); }, options({1, 2, 3}));
  if (world.rank() != 0) return;
  ASSERT_EQ(sweep.points.size(), 3U);
  for (const ScalingPoint& p : sweep.points) {
    EXPECT_EQ(p.plan_digest, sweep.points[0].plan_digest);
    EXPECT_EQ(p.gpus, 256);
    EXPECT_EQ(p.shard_seconds.size(), 4U);
    EXPECT_EQ(std::ssize(p.evaluate_seconds), p.ranks);
    EXPECT_EQ(std::ssize(p.peak_memory_mib), p.ranks);
    EXPECT_GT(p.largest_memory(), 1.0);
    EXPECT_EQ(std::ssize(p.cpu_seconds), p.ranks);
    EXPECT_GT(p.largest_cpu(), 0.0);
    EXPECT_EQ(p.messages() > 0, p.ranks > 1);
    std::int64_t messages = 0;
    for (const StageShares& stage : p.stages) {
      ASSERT_EQ(std::ssize(stage.ranks), p.ranks);
      messages += stage.ranks[0].messages;
    }
    EXPECT_EQ(messages, p.messages());
  }
}

TEST_F(SweepTest, weak_asks_for_a_cluster_a_point) {
  const auto world = comm::Communicator::world();
  auto weak = options({1, 2});
  weak.scaling = Scaling::weak;
  weak.modelled = {64};
  const auto sweep = run_sweep(
      world, [](int ranks) { return cluster(128 * ranks); }, weak);
  if (world.rank() != 0) return;
  EXPECT_EQ(sweep.points[0].gpus, 128);
  EXPECT_EQ(sweep.points[1].gpus, 256);
  ASSERT_EQ(sweep.forecasts.size(), 1U);
  EXPECT_GT(sweep.forecasts[0].seconds, 0.0);
}

TEST_F(SweepTest, a_failing_source_ends_all_ranks) {
  const auto world = comm::Communicator::world();
  const auto broken = [](int) -> model::Instance { throw InputError({}, "no such cluster"); };
  EXPECT_THROW(run_sweep(world, broken, options({1, 2})), comm::AgreedError);
}

TEST_F(SweepTest, usual_ranks_double_up_to_all) {
  EXPECT_EQ(usual_ranks(1), (std::vector<int>{1}));
  EXPECT_EQ(usual_ranks(8), (std::vector<int>{1, 2, 4, 8}));
  EXPECT_EQ(usual_ranks(6), (std::vector<int>{1, 2, 4, 6}));
}

}  // namespace
}  // namespace berth::scale
