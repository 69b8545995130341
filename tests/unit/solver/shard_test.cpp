// SPDX-License-Identifier: Apache-2.0
// What a shard holds: its content, and room that jobs of several shards take.
#include "berth/solver/shard.hpp"

#include "shard_builder.hpp"

#include <gtest/gtest.h>

namespace berth::solver {
namespace {

using test::on;

TEST(Shard, gives_back_the_content_it_was_restored_to) {
  auto plan = test::one_rack(2);
  for (int j = 0; j < 4; ++j) plan.job({.gpus = 2, .weight = 1.0 + j});
  test::WholeShard s(plan);
  s.shard.restore({.placed = {on(JobId(1), 0, 3), on(JobId(3), 1, 3)},
                   .unplaced = {JobId(0), JobId(2)},
                   .evicted = {JobId(2)}});
  const ShardContent content = s.shard.content();
  ASSERT_EQ(content.placed.size(), 2U);
  EXPECT_EQ(content.placed[1].tasks, on(JobId(3), 1, 3).tasks);
  EXPECT_EQ(content.unplaced, (std::vector{JobId(0), JobId(2)}));
  EXPECT_EQ(content.evicted, std::vector{JobId(2)});
  EXPECT_EQ(s.shard.jobs().size(), 4U);
  EXPECT_DOUBLE_EQ(s.shard.value(), 2.0 * 2.0 + 2.0 * 4.0);
  EXPECT_DOUBLE_EQ(s.shard.gpus(), 8.0);
}

TEST(Shard, forgets_waiting_jobs_alone) {
  auto plan = test::one_rack(1);
  plan.job({.gpus = 2});
  plan.job({.gpus = 2});
  test::WholeShard s(plan);
  s.shard.restore({.placed = {on(JobId(0), 0, 3)}, .unplaced = {JobId(1)}});
  s.shard.forget(JobId(1));
  s.shard.forget(JobId(0));  // placed: stays
  EXPECT_EQ(s.shard.jobs(), std::vector{JobId(0)});
  s.shard.unplace(JobId(0));
  EXPECT_TRUE(s.shard.is_waiting(JobId(0)));
  EXPECT_EQ(s.shard.content().evicted, std::vector{JobId(0)});
}

/// A gang over both shards: each counts its own machines, and the shard of the first task has the
/// job afterwards.
TEST(Shard, reserves_room_for_jobs_of_several_shards) {
  auto plan = test::one_rack(2);
  const JobId gang = plan.job({.tasks = 2, .gpus = 4});
  test::WholeShard s(plan);
  Shard first = s.shard.empty_copy(ShardId(1), {MachineId(0)});
  Shard second = s.shard.empty_copy(ShardId(2), {MachineId(1)});
  const model::JobPlacement placed{
      .job = gang, .tasks = {{MachineId(0), 0, 15, 1000}, {MachineId(1), 0, 15, 1000}}};
  for (Shard* shard : {&first, &second}) {
    shard->reserve(placed);
    EXPECT_TRUE(shard->jobs().empty());
    shard->unreserve(placed);
  }
  EXPECT_TRUE(first.is_waiting(gang));
  EXPECT_FALSE(second.is_waiting(gang));
  second.restore({.placed = {on(gang, 1, 15)}});  // the room is free again, or this is refused
}

}  // namespace
}  // namespace berth::solver
