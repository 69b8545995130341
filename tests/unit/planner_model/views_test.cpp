// SPDX-License-Identifier: Apache-2.0
// The planner's views of an instance: free room, values, pools.
#include "tiny.hpp"
#include "two_pods.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "berth/model/placement.hpp"
#include "berth/planner_model/pools.hpp"
#include "berth/planner_model/room.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::planner_model {
namespace {

using test::add_job;
using test::two_pods;

const std::vector<MachineId> kAll{MachineId(0), MachineId(1), MachineId(2), MachineId(3)};

TEST(Room, a_share_opens_a_second_device_only_when_the_first_is_full) {
  const model::Instance instance = two_pods();
  Room room(instance.cluster);
  const model::Shape share{.needs = {100, 1}, .gpu_milli = 400};
  EXPECT_EQ(room.take(MachineId(0), 0, share).devices, 1U);
  EXPECT_EQ(room.take(MachineId(0), 0, share).devices, 1U);
  EXPECT_EQ(room.take(MachineId(0), 0, share).devices, 2U);
  EXPECT_EQ(room.free_milli(MachineId(0)), 2800);
  EXPECT_EQ(room.whole_count(MachineId(0)), 2);
  EXPECT_EQ(room.count(MachineId(0), share, 100), 5);  // 1 on device 1, 2 on each whole one
  EXPECT_EQ(room.version(MachineId(0)), 3U);
}

TEST(Room, of_some_machines_knows_each_by_its_own_id) {
  const model::Instance instance = two_pods();
  const std::vector<MachineId> machines{MachineId(3), MachineId(1)};  // any order, with gaps
  Room room(instance.cluster, machines);
  ASSERT_EQ(room.size(), 2U);
  EXPECT_EQ(room.slot(MachineId(3)), 0U);
  EXPECT_EQ(room.slot(MachineId(1)), 1U);
  room.take(MachineId(3), 0, {.gpus = 3});
  EXPECT_EQ(room.whole_count(MachineId(3)), 1);
  EXPECT_EQ(room.whole_count(MachineId(1)), 4);
  EXPECT_EQ(Room(instance.cluster, {}).size(), 0U);
}

TEST(Room, holds_machines_of_ids_far_apart) {
  test::Tiny tiny;
  const ClassId c = tiny.machine_class("c", tiny.type("A"), 4, 1000, 1000);
  tiny.pod();
  tiny.rack();
  for (int m = 0; m < 700; ++m) tiny.machine(c);
  const std::vector<MachineId> machines{MachineId(129), MachineId(70), MachineId(600),
                                        MachineId(133)};
  const Room room(tiny.instance.cluster, machines);
  for (std::size_t m = 0; m < 700; ++m) {
    const auto at = std::ranges::find(machines, MachineId(m));
    ASSERT_EQ(room.holds(MachineId(m)), at != machines.end()) << m;
    if (at == machines.end()) continue;
    EXPECT_EQ(room.slot(MachineId(m)), static_cast<std::size_t>(at - machines.begin()));
  }
}

TEST(Room, gives_back_exactly_what_was_taken) {
  const model::Instance instance = two_pods();
  Room room(instance.cluster);
  const model::Shape pair{.needs = {4000, 400}, .gpus = 2};
  const auto first = room.take(MachineId(1), 0, pair);
  const auto second = room.take(MachineId(1), 0, pair);
  EXPECT_EQ(first.devices | second.devices, 0xFU);
  EXPECT_FALSE(room.fits(MachineId(1), {.gpus = 1}));
  room.release(first, pair);
  EXPECT_TRUE(room.fits(MachineId(1), pair));
  room.release(second, pair);
  EXPECT_EQ(room.free_cpu(MachineId(1)), 8000);
  EXPECT_EQ(room.whole_devices(MachineId(1)), 0xFU);
}

TEST(Room, cpu_and_memory_limit_a_machine_too) {
  const model::Instance instance = two_pods();
  const Room room(instance.cluster);
  EXPECT_EQ(room.count(MachineId(0), {.needs = {3000}, .gpus = 1}, 100), 2);
  EXPECT_EQ(room.count(MachineId(0), {.needs = {0, 1001}, .gpus = 1}, 100), 0);
  EXPECT_EQ(room.count(MachineId(0), {.needs = {1000}}, 100), 8);
}

TEST(Room, a_machine_that_is_not_up_holds_nothing_not_even_an_empty_task) {
  model::Instance instance = two_pods();
  instance.cluster.machine_state.assign(instance.cluster.machines(), model::MachineState::up);
  instance.cluster.machine_state[0] = model::MachineState::drained;
  instance.cluster.machine_state[1] = model::MachineState::reserved;
  const Room room(instance.cluster);
  for (const std::size_t m : {0, 1}) {
    EXPECT_FALSE(room[MachineId(m)].is_up());
    EXPECT_FALSE(room.fits(MachineId(m), {}));
    EXPECT_EQ(room.count(MachineId(m), {}, 100), 0);
    EXPECT_FALSE(room[MachineId(m)].fits(model::Immovable{.machine = MachineId(m)}));
  }
  EXPECT_TRUE(room.fits(MachineId(2), {}));
  EXPECT_EQ(room.count(MachineId(2), {}, 100), 100);
}

TEST(Room, a_nic_limits_a_machine_where_it_has_a_limit) {
  model::Instance instance = two_pods();
  const model::Shape talks{.needs = {0, 0, 400}, .gpus = 1};
  EXPECT_EQ(Room(instance.cluster).count(MachineId(0), talks, 100), 4);
  instance.cluster.classes[0].capacity[model::kNic] = 1000;
  Room room(instance.cluster);
  EXPECT_EQ(room.count(MachineId(0), talks, 100), 2);
  const model::TaskPlacement first = room.take(MachineId(0), 0, talks);
  room.take(MachineId(0), 0, talks);
  EXPECT_FALSE(room.fits(MachineId(0), talks));
  room.release(first, talks);
  EXPECT_EQ(room.free_resources(MachineId(0))[model::kNic], 600);
}

TEST(Room, a_share_takes_whole_slices) {
  model::Instance instance = two_pods();
  instance.cluster.classes[0].gpu_slices = 7;
  Room room(instance.cluster);
  const model::Shape share{.gpu_milli = 300};  // 3 of 7 slices
  EXPECT_EQ(room.count(MachineId(0), share, 100), 8);
  const model::TaskPlacement task = room.take(MachineId(0), 0, share);
  EXPECT_EQ(task.milli, 428);
  EXPECT_EQ(room.devices(MachineId(0))[0], 572);
  EXPECT_EQ(room.take(MachineId(0), 0, share).devices, 1U);
  EXPECT_EQ(room.take(MachineId(0), 0, share).devices, 2U);
  EXPECT_EQ(room.take(MachineId(0), 0, {.gpu_milli = 142}).devices, 1U);
  EXPECT_EQ(room.devices(MachineId(0))[0], 1000 - 428 - 428 - 142);
  room.release(task, share);
  EXPECT_EQ(room.devices(MachineId(0))[0], 1000 - 428 - 142);
  EXPECT_EQ(room.take(MachineId(0), 0, {.gpu_milli = 900}).milli, 1000);  // all seven
}

TEST(PlaceJob, places_a_gang_whole_or_not_at_all) {
  model::Instance instance = two_pods();
  add_job(instance, {.gpus = 4}, 4);
  add_job(instance, {.gpus = 3}, 2);
  Room room(instance.cluster);
  const auto gang = place_job(room, instance.workload, JobId(0), kAll);
  ASSERT_TRUE(gang);
  EXPECT_EQ(gang->tasks.size(), 4U);
  EXPECT_FALSE(place_job(room, instance.workload, JobId(1), kAll));
  release(room, instance.workload, *gang);
  Room partly(instance.cluster);
  for (int m = 0; m < 3; ++m) partly.take(MachineId(m), 0, {.gpus = 4});
  EXPECT_FALSE(place_job(partly, instance.workload, JobId(1), kAll));
  EXPECT_EQ(partly.free_milli(MachineId(3)), 4000) << "a refused gang leaves nothing behind";
}

TEST(PlaceJob, keeps_a_machine_job_on_one_machine) {
  model::Instance instance = two_pods();
  add_job(instance, {.gpus = 1}, 3).domain = model::Level::machine;
  Room room(instance.cluster);
  for (int m = 0; m < 3; ++m) room.take(MachineId(m), 0, {.gpus = 2});
  const auto placed = place_job(room, instance.workload, JobId(0), kAll);
  ASSERT_TRUE(placed);
  for (const model::TaskPlacement& t : placed->tasks) EXPECT_EQ(t.machine, MachineId(3));
}

TEST(Valuation, multiplies_base_speed_home_and_spread) {
  model::Instance instance = two_pods();
  model::Workload& w = instance.workload;
  model::Job& job = add_job(instance, {.gpus = 2}, 2);
  job.weight = 3.0;
  job.home_rack = RackId(1);
  w.factors.push_back({1.0, 1.0, 0.5, 0.25});
  w.factors.push_back({1.0, 0.9, 0.8, 0.7});
  job.home_factor = 1;
  job.width_factor = 2;
  w.speed_types = 2;
  w.speeds = {1.0, 1.0, 2.0, 4.0};
  job.speed = 1;
  const Valuation value(instance, model::Objective::value);
  EXPECT_DOUBLE_EQ(value.option(JobId(0), GpuTypeId(0), model::Level::rack, model::Level::pod),
                   12 * 2.0 * 0.5 * 0.9);
  EXPECT_DOUBLE_EQ(
      Valuation(instance, model::Objective::allocate)
          .option(JobId(0), GpuTypeId(0), model::Level::cluster, model::Level::cluster),
      4000.0);
  const model::JobPlacement apart{
      .job = JobId(0),
      .start = 0,
      .tasks = {{MachineId(2), 0, 3, 1000}, {MachineId(3), 0, 3, 1000}}};
  EXPECT_DOUBLE_EQ(value.placed(apart), 12 * 2.0 * 0.25 * 0.7);  // farthest task, widest domain
  EXPECT_FALSE(value.place_independent(JobId(0)));
}

TEST(Pools, follow_racks_only_where_a_job_can_tell_them_apart) {
  model::Instance instance = two_pods();
  add_job(instance, {.gpus = 2}, 1);
  EXPECT_EQ(pool_level(instance, model::Objective::value), model::Level::pod);
  instance.workload.factors.push_back({1.0, 1.0, 0.9, 0.8});
  instance.workload.jobs[0].home_rack = RackId(0);
  instance.workload.jobs[0].home_factor = 1;
  EXPECT_EQ(pool_level(instance, model::Objective::value), model::Level::rack);
  EXPECT_EQ(pool_level(instance, model::Objective::allocate), model::Level::pod);
  const Pools pools = make_pools(instance.cluster, model::Level::rack);
  ASSERT_EQ(pools.size(), 3U);
  EXPECT_EQ(pools.pools[0].machines, 2);
  EXPECT_EQ(pools.pools[0].gpu_milli, 8000);
}

TEST(Pools, of_some_machines_keep_their_order_and_count_those_alone) {
  const model::Instance instance = two_pods();
  const Pools all = make_pools(instance.cluster, model::Level::rack);
  const std::vector<MachineId> machines{MachineId(1), MachineId(3)};
  const auto [part, in_all] = pool_subset(instance.cluster, all, machines);
  EXPECT_EQ(in_all, (std::vector{PoolId(0), PoolId(2)}));
  ASSERT_EQ(part.size(), 2U);
  EXPECT_EQ(part.pools[0].machines, 1);  // m0 is another shard's
  EXPECT_EQ(part.pools[0].gpu_milli, 4000);
  EXPECT_EQ(part.pools[1].rack, RackId(2));
  EXPECT_EQ(part.pool_of(MachineId(1)), PoolId(0));
  EXPECT_EQ(part.pool_of(MachineId(3)), PoolId(1));
  EXPECT_FALSE(part.pool_of(MachineId(2)).valid());
  EXPECT_EQ(part.of_machine.size(), 3U);
}

}  // namespace
}  // namespace berth::planner_model
