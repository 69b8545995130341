// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/comm/communicator.hpp"
#include "berth/comm/environment.hpp"

namespace berth::comm {
namespace {

TEST(Stats, count_what_a_rank_gave_by_stage) {
  const auto world = Communicator::world();
  std::vector<double> prices(10, 1.5);
  world.begin_stage("relax");
  world.broadcast<double>(prices);
  world.begin_stage("round");
  (void)world.sum(1);
  world.begin_stage("relax");
  world.broadcast<double>(prices);

  const auto stats = world.stats();
  if (world.size() == 1) {
    EXPECT_EQ(world.traffic().messages, 0);  // nothing leaves a lonely rank
    return;
  }
  ASSERT_EQ(stats.size(), 2U);  // no collective follows
  EXPECT_EQ(stats[0].stage, "relax");
  EXPECT_EQ(stats[0].messages, 2);
  EXPECT_EQ(stats[0].bytes, world.rank() == 0 ? 160 : 0);
  EXPECT_EQ(stats[1].stage, "round");
  EXPECT_EQ(stats[1].messages, 1);
  EXPECT_EQ(stats[1].bytes, 8);
  EXPECT_GT(stats[1].seconds, 0.0);
  EXPECT_GE(stats[1].elapsed, stats[1].seconds);
  EXPECT_EQ(world.traffic().messages, 3);

  const auto calls = world.stats_by_call();
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].call, Call::broadcast);
  EXPECT_EQ(calls[0].messages, 2);
  EXPECT_EQ(calls[1].stage, "round");
  EXPECT_EQ(calls[1].call, Call::all_reduce);
}

TEST(Stats, a_share_for_oneself_does_not_count) {
  const auto world = Communicator::world();
  const auto ranks = static_cast<std::size_t>(world.size());
  const std::vector<int> items(ranks, 7);
  const std::vector<std::size_t> counts(ranks, 1);
  (void)world.all_to_all_varying<int>(items, counts);
  std::int64_t bytes = 0;
  for (const Traffic& traffic : world.stats()) bytes += traffic.bytes;
  EXPECT_EQ(bytes, static_cast<std::int64_t>((ranks - 1) * (sizeof(int) + 16)));  // with notices
}

TEST(Stats, a_copy_counts_apart) {
  const auto world = Communicator::world();
  const Communicator copy = world;  // NOLINT: the copy is the point
  copy.barrier();
  EXPECT_TRUE(world.stats().empty());
  EXPECT_EQ(copy.stats().empty(), copy.size() == 1);
}

TEST(Events, tell_stages_spans_and_messages_in_time) {
  const auto world = Communicator::world();
  world.begin_stage("before");
  world.barrier();
  EXPECT_TRUE(world.events().empty());  // not requested
  world.record_events();
  world.begin_stage("round");
  {
    const Communicator::TraceSpan span(world, "shard", 3);
    (void)world.sum(1);
  }
  world.begin_stage("after");

  std::vector<std::string> names;
  double end_of_span = 0.0;
  for (const Event& event : world.events()) {
    names.push_back(event.name);
    EXPECT_GE(event.begin, 0.0);
    EXPECT_GE(event.seconds, 0.0);
    if (event.kind == EventKind::span) {
      EXPECT_EQ(event.index, 3);
      end_of_span = event.begin + event.seconds;
    }
    if (event.kind == EventKind::message) {
      EXPECT_EQ(event.bytes, 8);
    }
    if (event.name == "round") {
      EXPECT_GE(event.begin + event.seconds, end_of_span);
    }
  }
  const std::vector<std::string> alone{"before", "shard", "round", "after"};
  const std::vector<std::string> together{"before", "all_reduce", "shard", "round", "after"};
  EXPECT_EQ(names, world.size() == 1 ? alone : together);
}

TEST(Environment, knows_its_launcher_and_library) {
  EXPECT_NE(Environment::library_version(), "");
  EXPECT_EQ(Environment::library_version().find('\n'), std::string::npos);
}

}  // namespace
}  // namespace berth::comm
