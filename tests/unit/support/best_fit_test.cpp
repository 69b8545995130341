// SPDX-License-Identifier: Apache-2.0
#include "best_fit.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "berth/generate/generate.hpp"
#include "berth/planner_model/room.hpp"

namespace berth::test {
namespace {

using model::Instance;
using model::Job;
using model::Level;
using model::Objective;
using model::Shape;

/// Two pods of two racks of two machines of 4 GPUs: machines 0..7.
Instance small_cluster() {
  Instance instance;
  auto& c = instance.cluster;
  c.gpu_types = {"A", "B"};
  c.classes = {{.name = "a",
                .gpu_type = GpuTypeId(0),
                .gpus = 4,
                .capacity = model::machine_capacity({32000, 65536})}};
  for (int p = 0; p < 2; ++p) c.pods.push_back({.name = "p" + std::to_string(p)});
  for (int r = 0; r < 4; ++r)
    c.racks.push_back({.name = "r" + std::to_string(r), .pod = PodId(r / 2)});
  for (int m = 0; m < 8; ++m) {
    c.machine_names.add("m" + std::to_string(m));
    c.machine_class.emplace_back(0);
    c.machine_rack.emplace_back(m / 2);
  }
  instance.workload.labels = {"worker"};
  return instance;
}

Job& add(Instance& instance, const Shape& shape, int count) {
  auto& w = instance.workload;
  w.job_names.add("j" + std::to_string(w.jobs.size()));
  w.shapes.push_back(shape);
  Job& job = w.jobs.emplace_back();
  job.first_group = static_cast<std::uint32_t>(w.groups.size());
  job.groups = 1;
  w.groups.push_back({.shape = ShapeId(w.shapes.size() - 1), .count = count});
  return job;
}

model::Placement plan(const Instance& instance) {
  return best_fit(instance, planner_model::Valuation(instance, Objective::value));
}

TEST(BestFit, packs_shares_on_one_device_and_leaves_whole_gpus) {
  auto instance = small_cluster();
  for (int i = 0; i < 3; ++i) add(instance, {.needs = {1000}, .gpu_milli = 300}, 1);
  add(instance, {.needs = {1000}, .gpus = 4}, 1);
  const auto placed = plan(instance);
  ASSERT_EQ(placed.size(), 4U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(placed[static_cast<std::size_t>(i)].tasks[0].machine, MachineId(0));
    EXPECT_EQ(placed[static_cast<std::size_t>(i)].tasks[0].devices, 1U);
  }
  EXPECT_EQ(placed[3].tasks[0].machine, MachineId(1));
}

TEST(BestFit, serves_by_arrival_then_id) {
  auto instance = small_cluster();
  add(instance, {.gpus = 4}, 8).arrival = 5;
  add(instance, {.gpus = 1}, 1).arrival = 1;
  const auto placed = plan(instance);
  ASSERT_EQ(placed.size(), 1U);
  EXPECT_EQ(placed[0].job, JobId(1));
}

TEST(BestFit, prefers_the_home_rack_then_the_home_pod) {
  auto instance = small_cluster();
  instance.workload.factors.push_back({1, 1, 0.9, 0.5});
  for (int i = 0; i < 5; ++i) {
    Job& job = add(instance, {.gpus = 4}, 1);
    job.home_rack = RackId(3);
    job.home_factor = 1;
  }
  const auto placed = plan(instance);
  ASSERT_EQ(placed.size(), 5U);
  const int expected[] = {6, 7, 4, 5, 0};  // rack 3, then pod 1, then anywhere
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(placed[i].tasks[0].machine, MachineId(expected[i]));
}

TEST(BestFit, takes_the_type_that_is_worth_most) {
  auto instance = small_cluster();
  instance.cluster.classes.push_back(instance.cluster.classes[0]);
  instance.cluster.classes[1].gpu_type = GpuTypeId(1);
  instance.cluster.machine_class[5] = ClassId(1);
  instance.workload.speed_types = 2;
  instance.workload.speeds = {1, 1, 1, 3};
  for (int i = 0; i < 2; ++i) add(instance, {.gpus = 4}, 1).speed = 1;
  const auto placed = plan(instance);
  ASSERT_EQ(placed.size(), 2U);
  EXPECT_EQ(placed[0].tasks[0].machine, MachineId(5));
  EXPECT_EQ(placed[1].tasks[0].machine, MachineId(0));
}

TEST(BestFit, looks_for_the_fullest_machine_as_it_is_now) {
  auto instance = small_cluster();
  for (const int gpus : {2, 3, 1}) add(instance, {.gpus = gpus}, 1);
  const auto placed = plan(instance);
  ASSERT_EQ(placed.size(), 3U);
  EXPECT_EQ(placed[1].tasks[0].machine, MachineId(1));
  EXPECT_EQ(placed[2].tasks[0].machine, MachineId(1));  // 1 GPU free there, 2 on machine 0
}

TEST(BestFit, keeps_gangs_together_as_their_value_asks) {
  auto instance = small_cluster();
  instance.workload.factors.push_back({1, 1, 0.8, 0.4});
  add(instance, {.gpus = 1}, 1);  // rack 0 is the fullest, but holds no gang of 8 now
  add(instance, {.gpus = 4}, 2).width_factor = 1;
  add(instance, {.gpus = 4}, 2).domain = Level::rack;
  add(instance, {.gpus = 4}, 3).domain = Level::pod;
  const auto placed = plan(instance);
  ASSERT_EQ(placed.size(), 3U);  // the gang of 12 finds no pod any more
  const auto width = [&](std::size_t i) {
    return planner_model::extent(instance, placed[i]).width;
  };
  EXPECT_EQ(width(1), Level::rack);
  EXPECT_EQ(width(2), Level::rack);
}

TEST(BestFit, leaves_waiting_whom_no_type_or_machine_suits) {
  auto instance = small_cluster();
  add(instance, {.gpus = 1}, 1).gpu_types = 2;      // only B, of which there is no machine
  add(instance, {.needs = {33000}, .gpus = 1}, 1);  // more cores than a machine has
  add(instance, {.gpus = 1}, 5).domain = Level::machine;
  add(instance, {.gpus = 4}, 9);
  EXPECT_TRUE(plan(instance).empty());
}

TEST(BestFit, puts_cpu_only_jobs_on_cpu_only_machines_first) {
  auto instance = small_cluster();
  instance.cluster.classes.push_back(
      {.name = "c", .gpu_type = {}, .capacity = model::machine_capacity({8000, 1024})});
  instance.cluster.machine_class[7] = ClassId(1);
  for (int i = 0; i < 2; ++i) add(instance, {.needs = {8000}}, 1);
  const auto placed = plan(instance);
  ASSERT_EQ(placed.size(), 2U);
  EXPECT_EQ(placed[0].tasks[0].machine, MachineId(7));
  EXPECT_EQ(placed[1].tasks[0].machine, MachineId(0));
}

/// Replayed into an empty room, which asserts every device; types and domains looked at here.
TEST(BestFit, is_feasible_and_fills_a_generated_cluster) {
  const auto instance = generate::generate_hetero({.gpus = 4096, .seed = 3, .cpu_machines = 0.02});
  const auto placed = plan(instance);
  const auto& w = instance.workload;
  planner_model::Room room(instance.cluster);
  std::int64_t milli = 0;
  for (const auto& p : placed) {
    const Job& job = w.job(p.job);
    planner_model::take(room, w, p);
    milli += w.gpu_milli(job);
    EXPECT_EQ(static_cast<std::int64_t>(p.tasks.size()), w.tasks(job));
    EXPECT_LE(planner_model::extent(instance, p).width, job.domain);
    for (const auto& task : p.tasks) {
      const GpuTypeId type = instance.cluster.class_of(task.machine).gpu_type;
      EXPECT_TRUE(task.devices == 0 || ((job.gpu_types >> type.index()) & 1) != 0);
    }
  }
  EXPECT_TRUE(std::ranges::is_sorted(placed, {}, &model::JobPlacement::job));
  EXPECT_GT(milli, 4096 * 930);
}

}  // namespace
}  // namespace berth::test
