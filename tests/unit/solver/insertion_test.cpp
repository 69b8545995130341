// SPDX-License-Identifier: Apache-2.0
// One rack, two machines of 4 GPUs, one GPU type; values are weight x GPUs.
#include "local_search/insertion.hpp"

#include "local_search/fill_idle_capacity.hpp"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver::local_search {
namespace {

struct Small {
  model::Instance instance;
  std::vector<MachineId> machines;

  explicit Small(int count) {
    model::Cluster& cluster = instance.cluster;
    cluster.gpu_types = {"A"};
    model::MachineClass c;
    c.gpu_type = GpuTypeId(0);
    c.gpus = 4;
    cluster.classes = {c};
    cluster.pods.emplace_back();
    cluster.racks.emplace_back();
    cluster.racks[0].pod = PodId(0);
    for (int m = 0; m < count; ++m) {
      cluster.machine_names.add("m" + std::to_string(m));
      cluster.machine_class.emplace_back(0);
      cluster.machine_rack.emplace_back(0);
      machines.emplace_back(m);
    }
  }

  JobId job(std::int32_t gpus, double weight, std::int32_t tasks = 1) {
    model::Workload& w = instance.workload;
    model::Shape shape;
    shape.gpus = gpus;
    w.shapes.push_back(shape);
    w.groups.push_back({.shape = ShapeId(w.shapes.size() - 1), .count = tasks});
    model::Job record;
    record.first_group = static_cast<std::uint32_t>(w.groups.size() - 1);
    record.groups = 1;
    record.weight = weight;
    w.jobs.push_back(record);
    return JobId(w.jobs.size() - 1);
  }
};

TEST(Insertion, prefers_idle_room) {
  Small s(2);
  const JobId a = s.job(4, 1.0);
  const JobId b = s.job(2, 1.0);
  const planner_model::Valuation value(s.instance, model::Objective::value);
  Occupancy occupancy(value, s.machines);
  ASSERT_TRUE(place_in_idle_capacity(occupancy, a));
  const Insertion found = find_insertion(occupancy, b);
  EXPECT_DOUBLE_EQ(found.gain, 2.0);
  EXPECT_TRUE(found.victims.empty());
  EXPECT_EQ(found.machines, std::vector<MachineId>{MachineId(1)});
}

TEST(Insertion, pushes_out_the_least_value_that_makes_room_and_spares_the_rest) {
  Small s(1);
  const JobId cheap = s.job(1, 1.0);   // worth 1
  const JobId middle = s.job(2, 1.5);  // worth 3
  const JobId dear = s.job(1, 9.0);    // worth 9
  const JobId wants = s.job(2, 4.0);   // worth 8, needs 2 GPUs: middle alone is enough
  const planner_model::Valuation value(s.instance, model::Objective::value);
  Occupancy occupancy(value, s.machines);
  for (const JobId job : {cheap, middle, dear}) ASSERT_TRUE(place_in_idle_capacity(occupancy, job));
  const Insertion found = find_insertion(occupancy, wants);
  EXPECT_EQ(found.victims, std::vector<JobId>{middle});
  EXPECT_DOUBLE_EQ(found.gain, 5.0);
  const InsertionOutcome outcome = insert(occupancy, wants, found, 0.0);
  EXPECT_DOUBLE_EQ(outcome.gain, 5.0);
  EXPECT_EQ(outcome.evicted, std::vector<JobId>{middle});
  EXPECT_DOUBLE_EQ(occupancy.value(), 18.0);
}

TEST(Insertion, finds_nothing_where_all_jobs_are_worth_more) {
  Small s(1);
  const JobId dear = s.job(4, 2.0);
  const JobId wants = s.job(4, 1.0);
  const planner_model::Valuation value(s.instance, model::Objective::value);
  Occupancy occupancy(value, s.machines);
  ASSERT_TRUE(place_in_idle_capacity(occupancy, dear));
  EXPECT_LE(find_insertion(occupancy, wants).gain, 0.0);
}

TEST(Insertion, never_pushes_out_a_required_job) {
  Small s(1);
  const JobId cheap = s.job(4, 0.1);
  const JobId wants = s.job(4, 9.0);
  s.instance.workload.jobs[cheap.index()].required = true;
  const planner_model::Valuation value(s.instance, model::Objective::value);
  Occupancy occupancy(value, s.machines);
  ASSERT_TRUE(place_in_idle_capacity(occupancy, cheap));
  EXPECT_LE(find_insertion(occupancy, wants).gain, 0.0);
}

TEST(Insertion, brings_a_gang_in_over_several_machines) {
  Small s(2);
  const JobId left = s.job(3, 1.0);
  const JobId right = s.job(3, 1.0);
  const JobId gang = s.job(2, 2.0, 4);  // 8 GPUs, worth 16
  const planner_model::Valuation value(s.instance, model::Objective::value);
  Occupancy occupancy(value, s.machines);
  for (const JobId job : {left, right}) ASSERT_TRUE(place_in_idle_capacity(occupancy, job));
  const Insertion found = find_insertion(occupancy, gang);
  EXPECT_DOUBLE_EQ(found.gain, 10.0);
  EXPECT_DOUBLE_EQ(insert(occupancy, gang, found, 0.0).gain, 10.0);
  EXPECT_EQ(occupancy.placed(gang).tasks.size(), 4U);
}

TEST(Insertion, undoes_everything_when_too_little_is_gained) {
  Small s(1);
  const JobId cheap = s.job(2, 1.0);
  const JobId wants = s.job(4, 1.0);
  const planner_model::Valuation value(s.instance, model::Objective::value);
  Occupancy occupancy(value, s.machines);
  ASSERT_TRUE(place_in_idle_capacity(occupancy, cheap));
  const auto before = occupancy.placed(cheap).tasks;
  const Insertion found = find_insertion(occupancy, wants);
  EXPECT_DOUBLE_EQ(found.gain, 2.0);
  EXPECT_DOUBLE_EQ(insert(occupancy, wants, found, 3.0).gain, 0.0);
  EXPECT_TRUE(occupancy.is_placed(cheap));
  EXPECT_FALSE(occupancy.is_placed(wants));
  EXPECT_EQ(occupancy.placed(cheap).tasks, before);
  EXPECT_EQ(occupancy.room().free_milli(MachineId(0)), 2000);
}

TEST(EvictionCostBounds, take_the_cheapest_per_gpu_and_the_last_in_part) {
  Small s(2);
  const JobId dear = s.job(4, 3.0);   // worth 12
  const JobId cheap = s.job(3, 1.0);  // worth 3, leaves one GPU idle
  const planner_model::Valuation value(s.instance, model::Objective::value);
  Occupancy occupancy(value, s.machines);
  for (const JobId job : {dear, cheap}) ASSERT_TRUE(place_in_idle_capacity(occupancy, job));
  const EvictionCostBounds costs(occupancy);
  const Domain& rack = occupancy.index().domains(GpuTypeId(0), model::Level::rack)[0];
  EXPECT_DOUBLE_EQ(costs.least(rack, 1000), 0.0);
  EXPECT_DOUBLE_EQ(costs.least(rack, 2500), 1.5);
  EXPECT_DOUBLE_EQ(costs.least(rack, 4000), 3.0);
  EXPECT_DOUBLE_EQ(costs.least(rack, 6000), 9.0);
  EXPECT_EQ(costs.least(rack, 9000), std::numeric_limits<double>::infinity());
}

/// Passing over domains and machines must not change what is found, gangs over machines among the
/// victims.
TEST(EvictionCostBounds, leave_every_insertion_as_it_was) {
  int found = 0, gangs = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto draw = [&](std::uint64_t below, std::uint64_t key) {
      return static_cast<std::int32_t>(random_below(below, {seed, key}));
    };
    Small s(6);
    model::Cluster& cluster = s.instance.cluster;
    cluster.racks.push_back(cluster.racks[0]);
    for (std::size_t m = 3; m < 6; ++m) cluster.machine_rack[m] = RackId(1);
    std::vector<JobId> jobs;
    for (std::uint64_t k = 0; k < 40; ++k) {
      jobs.push_back(
          s.job(1 + draw(4, 10 * k), 1.0 + draw(50, 10 * k + 1) / 10.0, 1 + draw(3, 10 * k + 2)));
    }
    const planner_model::Valuation value(s.instance, model::Objective::value);
    Occupancy occupancy(value, s.machines);
    for (std::size_t k = 0; k < 20; ++k) place_in_idle_capacity(occupancy, jobs[k]);
    const EvictionCostBounds costs(occupancy);
    MachinesByCost order(occupancy);
    for (std::size_t k = 20; k < 40; ++k) {
      const Insertion plain = find_insertion(occupancy, jobs[k]);
      for (MachinesByCost* const by : {static_cast<MachinesByCost*>(nullptr), &order}) {
        const Insertion pruned = find_insertion(occupancy, jobs[k], {.costs = &costs, .order = by});
        ASSERT_EQ(pruned.gain, plain.gain) << "seed " << seed << ", job " << k;
        ASSERT_EQ(pruned.machines, plain.machines);
        ASSERT_EQ(pruned.victims, plain.victims);
      }
      found += plain.gain > 0.0 && !plain.victims.empty() ? 1 : 0;
      gangs += plain.machines.size() > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(found, 100);
  EXPECT_GT(gangs, 20);
}

}  // namespace
}  // namespace berth::solver::local_search
