// SPDX-License-Identifier: Apache-2.0
#include "berth/planner_model/fragmentation.hpp"

#include "tiny.hpp"

#include <gtest/gtest.h>

#include "berth/planner_model/room.hpp"

namespace berth::planner_model {
namespace {

/// Two machines with 8 GPUs and 80 cores: 10 cores a GPU.
struct TwoMachines {
  test::Tiny tiny;
  std::vector<MachineId> machines;

  TwoMachines() {
    const ClassId c = tiny.machine_class("c", tiny.type("A"), 8, 80'000, 1'000'000);
    tiny.pod();
    tiny.rack();
    for (int m = 0; m < 2; ++m) machines.push_back(tiny.machine(c));
  }
  JobId job(std::int32_t gpus, std::int64_t cores) {
    return tiny.job({{.gpus = gpus, .cpu_milli = 1000 * cores}});
  }
  [[nodiscard]] const model::Shape& shape(JobId id) const {
    const model::Workload& w = tiny.instance.workload;
    return w.shape(w.groups_of(w.jobs[id.index()]).front().shape);
  }
};

TEST(Fragmentation, is_none_where_every_task_asks_for_its_share) {
  TwoMachines two;
  two.job(1, 10);
  two.job(4, 20);
  EXPECT_TRUE(Fragmentation(two.tiny.instance).none());
  two.job(1, 11);
  EXPECT_FALSE(Fragmentation(two.tiny.instance).none());
}

/// Half of the kinds ask for 5 cores a GPU, half for 20: an empty machine serves the latter on 4 of
/// its GPUs, which is 2 GPUs of 8 in the mean.
TEST(Fragmentation, grows_by_what_the_mean_kind_can_no_longer_use) {
  TwoMachines two;
  const JobId lean = two.job(1, 5), greedy = two.job(1, 20);
  const Fragmentation fragmentation(two.tiny.instance);
  model::FreeMachine free(two.tiny.instance.cluster, two.machines[0]);
  // 7 GPUs and 75 cores: 0 and 7 - 75 / 20 = 3.25, 1.625 in the mean
  EXPECT_EQ(fragmentation.growth(free, two.shape(lean)), -375);
  // 7 GPUs and 60 cores: 0 and 7 - 60 / 20 = 4, 2 in the mean
  EXPECT_EQ(fragmentation.growth(free, two.shape(greedy)), 0);
  // 4 GPUs and 10 cores, then 3 and 5: 2 and 3.5; 2 and 2.75
  free.take(free.choose(two.machines[0], 0, {.needs = {70'000}, .gpus = 4}),
            {.needs = {70'000}, .gpus = 4});
  EXPECT_EQ(fragmentation.growth(free, two.shape(lean)), -375);
}

/// The tightest machine has 4 GPUs and 20 cores left, the other 8 and 80.
TEST(Fragmentation, sends_a_task_of_many_cores_to_the_machine_that_has_them) {
  TwoMachines two;
  const JobId first = two.job(4, 60), greedy = two.job(1, 20), lean = two.job(1, 2);
  Room room(two.tiny.instance.cluster);
  const model::Workload& workload = two.tiny.instance.workload;
  ASSERT_TRUE(place_job(room, workload, first, two.machines));
  const auto machine_of = [&](JobId job) {
    Room trial = room;
    return place_job(trial, workload, job, two.machines)->tasks.front().machine;
  };
  EXPECT_EQ(machine_of(greedy), two.machines[0]);  // by free GPUs alone
  room.keep_low(Fragmentation(two.tiny.instance));
  EXPECT_EQ(machine_of(greedy), two.machines[1]);
  EXPECT_EQ(machine_of(lean), two.machines[0]);
}

/// Each task of a gang is placed by what the one before left: four tasks of 2 GPUs and 30 cores.
TEST(Fragmentation, divides_a_gang_over_machines) {
  TwoMachines two;
  const JobId gang = two.tiny.job({{.count = 4, .gpus = 2, .cpu_milli = 30'000}});
  two.job(2, 5);
  Room room(two.tiny.instance.cluster);
  room.keep_low(Fragmentation(two.tiny.instance));
  const auto placed = place_job(room, two.tiny.instance.workload, gang, two.machines);
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->tasks.size(), 4U);
  EXPECT_EQ(room.free_milli(two.machines[0]), 4000);
  EXPECT_EQ(room.free_milli(two.machines[1]), 4000);
}

}  // namespace
}  // namespace berth::planner_model
