// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/dive.hpp"

#include "greedy_plan.hpp"
#include "instance_builder.hpp"
#include "petsc_environment.hpp"
#include "test_paths.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "berth/parallel/threads.hpp"
#include "berth/solver/market.hpp"

namespace berth::solver {
namespace {

using model::Level;
using test::InstanceBuilder;

constexpr SearchEffort kChains{.chains = 100, .repartitions = 0};

/// Prices, then a dive on the empty floor; checks the result against the room and the values.
struct Dived {
  PriceResult prices;
  DiveResult result;
  model::Placement placement;
  std::vector<JobId> unplaced;

  explicit Dived(const InstanceBuilder& plan, const DiveOptions& options = {}) {
    const auto value = plan.value();
    const auto pools = plan.pools();
    Market market(value, pools, plan.jobs, full_supply(plan.instance.cluster, pools));
    const auto dual = [&](auto p, double e, auto g) { return market.dual(p, e, g); };
    prices = minimise_market(dual, market.shape(), {}, {});
    Occupancy occupancy(value, plan.machines);
    occupancy.admit(plan.jobs);
    result = dive(occupancy, {pools, prices.prices}, plan.jobs, options);
    placement = occupancy.placement();
    unplaced = occupancy.unplaced_jobs();
    verify(plan, value, occupancy.room());
  }

  void verify(const InstanceBuilder& plan, const planner_model::Valuation& value,
              const planner_model::Room& room) {
    planner_model::Room replay(plan.instance.cluster);  // take() asserts that devices are free
    double sum = 0.0;
    for (const model::JobPlacement& p : placement) {
      const model::Job& job = plan.instance.workload.job(p.job);
      take(replay, plan.instance.workload, p);
      sum += value.placed(p);
      EXPECT_EQ(static_cast<std::int64_t>(p.tasks.size()), plan.instance.workload.tasks(job));
      EXPECT_LE(planner_model::extent(plan.instance, p).width, job.domain);
      for (const model::TaskPlacement& t : p.tasks) {
        const GpuTypeId type = plan.instance.cluster.class_of(t.machine).gpu_type;
        EXPECT_TRUE(t.devices == 0 || (job.gpu_types >> type.index() & 1U) == 1U);
      }
    }
    for (const MachineId m : plan.machines) EXPECT_EQ(replay.free_milli(m), room.free_milli(m));
    EXPECT_NEAR(sum, result.value, 1e-6 * (1.0 + sum));
    EXPECT_LE(sum, prices.bound + 1e-6 * (1.0 + sum));
    EXPECT_EQ(placement.size() + unplaced.size(), plan.jobs.size());
    EXPECT_TRUE(std::ranges::is_sorted(placement, {}, &model::JobPlacement::job));
  }
};

// Two racks of 8; two jobs of 8 (worth 3 a GPU) and eight of 1 (worth 2): the large ones win.
TEST(Dive, places_the_obvious_jobs) {
  InstanceBuilder plan({"A"});
  const PodId pod = plan.pod();
  for (int r = 0; r < 2; ++r) plan.rack(pod), plan.add_machines(1, 0, 8);
  for (int j = 0; j < 8; ++j) plan.job({.gpus = 1, .weight = 2.0});
  for (int j = 0; j < 2; ++j) plan.job({.gpus = 8, .weight = 3.0});
  EXPECT_EQ(Dived(plan).result.value, 48.0);
}

// Each job is at home in another rack; away it is worth half.
TEST(Dive, sends_jobs_home) {
  InstanceBuilder plan({"A"});
  for (int r = 0; r < 4; ++r) plan.rack(plan.pod()), plan.add_machines(1, 0, 4);
  for (int j = 0; j < 4; ++j) {
    plan.job({.gpus = 4, .home_factor = {1.0, 1.0, 0.5, 0.5}, .home = RackId(3 - j)});
  }
  const Dived run(plan);
  EXPECT_EQ(run.result.value, 16.0);
  for (int j = 0; j < 4; ++j) {
    EXPECT_EQ(run.placement[static_cast<std::size_t>(j)].tasks[0].machine, MachineId(3 - j));
  }
}

// Fast on the other type: crossing over is worth 2 + 2 against 1 + 1.
TEST(Dive, chooses_types_and_keeps_to_those_allowed) {
  InstanceBuilder plan({"A", "B"});
  plan.rack(plan.pod());
  plan.add_machines(1, 0, 8);
  plan.add_machines(1, 1, 8);
  plan.job({.gpus = 8, .speed = {1.0, 2.0}});
  plan.job({.gpus = 8, .speed = {2.0, 1.0}});
  plan.job({.gpus = 8, .weight = 100.0, .types = 4});  // a type no machine has
  const Dived run(plan);
  EXPECT_EQ(run.result.value, 32.0);
  EXPECT_EQ(run.unplaced, std::vector<JobId>{JobId(2)});
}

// Gangs of 4 x 4 GPUs need both machines of two racks when spread, and lose half then: the racks
// (16 GPUs each) take one gang each.
TEST(Dive, keeps_gangs_narrow_when_width_costs) {
  InstanceBuilder plan({"A"});
  const PodId pod = plan.pod();
  for (int r = 0; r < 2; ++r) plan.rack(pod), plan.add_machines(2, 0, 8);
  for (int j = 0; j < 2; ++j) plan.job({.tasks = 4, .gpus = 4, .spread = {1.0, 1.0, 0.5, 0.5}});
  EXPECT_EQ(Dived(plan).result.value, 32.0);
}

// 24 GPUs in one gang: no rack (16) holds it, the pod (32) does.
TEST(Dive, spans_racks_when_it_must_and_may) {
  for (const Level widest : {Level::pod, Level::rack}) {
    InstanceBuilder plan({"A"});
    const PodId pod = plan.pod();
    for (int r = 0; r < 2; ++r) plan.rack(pod), plan.add_machines(2, 0, 8);
    plan.job({.tasks = 3, .gpus = 8, .spread = {1.0, 1.0, 0.75, 0.5}, .domain = widest});
    EXPECT_EQ(Dived(plan).result.value, widest == Level::pod ? 18.0 : 0.0);
  }
}

TEST(Dive, gap_is_small_on_a_mixed_instance_and_the_same_on_any_threads) {
  const InstanceBuilder plan = test::mixed_instance(5, 400);
  const parallel::ThreadLimit one(1);
  const Dived first(plan);
  RecordProperty("gap", std::to_string(1.0 - first.result.value / first.prices.bound));
  EXPECT_GT(first.result.value, 0.97 * first.prices.bound);
  const parallel::ThreadLimit two(2);
  const Dived second(plan);
  ASSERT_EQ(first.placement.size(), second.placement.size());
  for (std::size_t i = 0; i < first.placement.size(); ++i) {
    EXPECT_EQ(first.placement[i].job, second.placement[i].job);
    EXPECT_EQ(first.placement[i].tasks, second.placement[i].tasks);
  }
}

/// Racks as machines of 64 GPUs, jobs of one task with a home rack (columns in the header lines).
InstanceBuilder rack_placement(const std::filesystem::path& folder) {
  InstanceBuilder plan({"t0", "t1", "t2", "t3"});
  char comma = 0, t = 0;
  int id = 0, pod = 0, type = 0, gpus = 0, home = 0;
  std::string line;
  std::ifstream racks(folder / "racks.csv");
  std::getline(racks, line);
  while (racks >> id >> comma >> pod >> comma >> t >> type >> comma >> gpus) {
    while (plan.instance.cluster.pods.size() <= static_cast<std::size_t>(pod)) plan.pod();
    plan.rack(PodId(pod));
    plan.add_machines(1, type, gpus);
  }
  std::ifstream jobs(folder / "jobs.csv");
  std::getline(jobs, line);
  InstanceBuilder::Wanted wanted{.speed = std::vector<double>(4),
                                 .home_factor = {1.0, 1.0, 0.9, 0.75}};
  while (jobs >> id >> comma >> wanted.gpus >> comma >> wanted.weight >> comma >> home) {
    wanted.home = RackId(home);
    for (double& speed : wanted.speed) jobs >> comma >> speed;
    plan.job(wanted);
  }
  return plan;
}

// The LP optimum, computed once by a network simplex, is 126,860.5.
TEST(Dive, reaches_half_a_percent_on_rack_placement) {
  const auto bench = test::bench();
  if (!bench) GTEST_SKIP() << "skipped: no BERTH_BENCH";
  const InstanceBuilder plan = rack_placement(*bench / "rack_placement/r4000x256");
  ASSERT_EQ(plan.jobs.size(), 4000U);
  const Dived dived(plan);
  EXPECT_GE(dived.prices.bound, 126860.4);
  EXPECT_LE(dived.prices.bound, 126860.5 * 1.0005);
  EXPECT_GE(dived.result.value, 0.995 * dived.prices.bound);
}

TEST(Dive, empty_and_worthless_inputs) {
  InstanceBuilder none({"A"});
  EXPECT_TRUE(Dived(none).placement.empty());
  InstanceBuilder machines_only({"A"});
  machines_only.rack(machines_only.pod());
  machines_only.add_machines(2, 0, 8);
  EXPECT_TRUE(Dived(machines_only).placement.empty());
  machines_only.job({.gpus = 16});  // larger than any machine
  machines_only.job({.gpus = 1, .weight = 0.0});
  EXPECT_EQ(Dived(machines_only).unplaced.size(), 2U);
  InstanceBuilder jobs_only({"A"});
  jobs_only.job({.gpus = 1});
  EXPECT_EQ(Dived(jobs_only).unplaced.size(), 1U);
}

TEST(Fill, takes_the_best_per_gpu_first_then_cpu_only_jobs) {
  InstanceBuilder plan({"A"});
  plan.rack(plan.pod());
  plan.add_machines(1, 0, 8, 10'000);
  plan.add_machines(1, -1, 0, 5'000);
  plan.job({.gpus = 8, .weight = 1.0});
  plan.job({.gpus = 4, .weight = 3.0});
  plan.job({.gpus = 4, .weight = 2.0});
  plan.job({.gpus = 0, .cpu = 5'000});  // worth nothing, but there is room
  plan.job({.gpus = 0, .cpu = 10'000});
  plan.job({.gpus = 0, .cpu = 1'000});
  const auto value = plan.value();
  Occupancy occupancy(value, plan.machines);
  occupancy.admit(plan.jobs);
  test::add_greedily(occupancy);
  const model::Placement placed = occupancy.placement();
  ASSERT_EQ(placed.size(), 4U);
  EXPECT_EQ(occupancy.unplaced_jobs(), (std::vector<JobId>{JobId(0), JobId(5)}));
  EXPECT_EQ(placed[2].tasks[0].machine, MachineId(1));  // CPU-only machines first
  EXPECT_EQ(placed[3].tasks[0].machine, MachineId(0));
}

TEST(Fill, places_required_jobs_before_better_ones) {
  InstanceBuilder plan({"A"});
  plan.rack(plan.pod());
  plan.add_machines(1, 0, 8);
  plan.job({.gpus = 8, .weight = 9.0});
  plan.job({.gpus = 1, .weight = 0.0, .required = true});
  const auto value = plan.value();
  Occupancy occupancy(value, plan.machines);
  occupancy.admit(plan.jobs);
  test::add_greedily(occupancy);
  EXPECT_EQ(occupancy.unplaced_jobs(), std::vector<JobId>{JobId(0)});
}

// The rack of the newcomer's home is taken by a job that is worth as much elsewhere: it moves.
TEST(Improve, moves_a_job_aside_for_one_that_cannot) {
  InstanceBuilder plan({"A"});
  const PodId pod = plan.pod();
  for (int r = 0; r < 2; ++r) plan.rack(pod), plan.add_machines(1, 0, 8);
  plan.job({.gpus = 8, .weight = 1.0});
  plan.job({.gpus = 8, .weight = 1.0, .home_factor = {1.0, 1.0, 0.0, 0.0}, .home = RackId(0)});
  const auto value = plan.value();
  const auto pools = plan.pools();
  Occupancy occupancy(value, plan.machines);
  occupancy.admit(plan.jobs);
  occupancy.take(*occupancy.fit(JobId(0), std::span(plan.machines).first(1)));
  const std::vector<double> prices(pools.size(), 0.5);
  EXPECT_DOUBLE_EQ(improve(occupancy, {pools, prices}, kChains), 8.0);
  const model::Placement placed = occupancy.placement();
  ASSERT_EQ(placed.size(), 2U);
  EXPECT_EQ(placed[0].tasks[0].machine, MachineId(1));
  EXPECT_EQ(placed[1].tasks[0].machine, MachineId(0));
}

// Two of four 2-GPU jobs must leave for a 4-GPU job worth more than they: the two cheapest.
TEST(Improve, pushes_out_the_cheapest_for_a_better_one_and_never_loses) {
  InstanceBuilder plan({"A"});
  plan.rack(plan.pod());
  plan.add_machines(1, 0, 8);
  for (const double w : {3.0, 1.0, 2.0, 4.0}) plan.job({.gpus = 2, .weight = w});
  plan.job({.gpus = 4, .weight = 2.5});
  const auto value = plan.value();
  const auto pools = plan.pools();
  Occupancy occupancy(value, plan.machines);
  occupancy.admit(std::span(plan.jobs).first(4));
  test::add_greedily(occupancy);
  ASSERT_EQ(occupancy.placement().size(), 4U);
  occupancy.admit(JobId(4));
  const std::vector<double> prices(pools.size(), 2.2);
  EXPECT_DOUBLE_EQ(improve(occupancy, {pools, prices}, kChains), 10.0 - 6.0);
  EXPECT_EQ(occupancy.unplaced_jobs(), (std::vector<JobId>{JobId(1), JobId(2)}));
  EXPECT_EQ(improve(occupancy, {pools, prices}, kChains), 0.0);
}

// Two machines of A, two of B. The first gang is worth twice as much on A, where another one is;
// on the machines that it leaves, two jobs earn more than the one that it pushes out. A search that
// counts its own place as free keeps it.
TEST(Improve, a_gang_takes_the_place_of_another_one) {
  InstanceBuilder plan({"A", "B"});
  const PodId pod = plan.pod();
  for (const int type : {0, 1}) plan.rack(pod), plan.add_machines(2, type, 8);
  plan.job({.tasks = 2, .gpus = 8, .weight = 1.0, .speed = {1.0, 0.5}});
  plan.job({.tasks = 2, .gpus = 8, .weight = 0.9, .types = 1});
  for (int j = 0; j < 2; ++j) plan.job({.gpus = 8, .weight = 0.45, .types = 2});
  const auto value = plan.value();
  const auto pools = plan.pools();
  Occupancy occupancy(value, plan.machines);
  occupancy.admit(plan.jobs);
  occupancy.take(*occupancy.fit(JobId(0), std::span(plan.machines).subspan(2, 2)));
  occupancy.take(*occupancy.fit(JobId(1), std::span(plan.machines).first(2)));
  std::vector<double> prices;
  for (const auto& pool : pools.pools) prices.push_back(pool.gpu_type.index() == 0 ? 0.7 : 0.45);
  EXPECT_NEAR(improve(occupancy, {pools, prices}, kChains), 16.0 + 7.2 - 8.0 - 14.4, 1e-9);
  EXPECT_EQ(occupancy.unplaced_jobs(), (std::vector<JobId>{JobId(1)}));
}

// A job that is worth nothing is placed where another one is worth more than on its machine, and is
// ejected; filling must not mistake another job for it: the room must stay right.
TEST(Improve, pushes_out_what_is_worth_nothing) {
  InstanceBuilder plan({"A", "B"});
  const PodId pod = plan.pod();
  for (const int type : {0, 0, 1}) plan.rack(pod), plan.add_machines(1, type, 1);
  plan.job({.gpus = 1, .weight = 9.0, .required = true});
  plan.job({.gpus = 1, .weight = 0.0});
  plan.job({.gpus = 1, .weight = 1.0, .speed = {2.0, 1.0}});
  const auto value = plan.value();
  Occupancy occupancy(value, plan.machines);
  for (const JobId j : plan.jobs) {
    occupancy.take(*occupancy.fit(j, std::span(plan.machines).subspan(j.index(), 1)));
  }
  const auto pools = plan.pools();
  const std::vector<double> prices(pools.size(), 0.1);
  EXPECT_DOUBLE_EQ(improve(occupancy, {pools, prices}, kChains), 1.0);
  planner_model::Room replay(plan.instance.cluster);
  for (const auto& p : occupancy.placement())
    planner_model::take(replay, plan.instance.workload, p);
  for (const MachineId m : plan.machines) {
    EXPECT_EQ(replay.free_milli(m), occupancy.room().free_milli(m));
  }
}

// The required job is worth less than those it ejects, and no job ejects it again.
TEST(Improve, drives_required_jobs_in) {
  InstanceBuilder plan({"A"});
  plan.rack(plan.pod());
  plan.add_machines(1, 0, 8);
  plan.job({.gpus = 4, .weight = 3.0});
  plan.job({.gpus = 4, .weight = 2.0});
  const auto value = plan.value();
  Occupancy occupancy(value, plan.machines);
  occupancy.admit(plan.jobs);
  test::add_greedily(occupancy);
  occupancy.admit(plan.job({.gpus = 2, .weight = 0.5, .required = true}));
  const auto pools = plan.pools();
  const std::vector<double> prices(pools.size(), 2.5);
  EXPECT_DOUBLE_EQ(improve(occupancy, {pools, prices}, kChains), 1.0 - 8.0);
  EXPECT_EQ(occupancy.unplaced_jobs(), std::vector<JobId>{JobId(1)});
}

// Prices of 0 say nothing about which jobs to place, and few iterations do not mend them.
TEST(Dive, is_never_worse_than_jobs_by_value_density) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    InstanceBuilder plan({"A"});
    const PodId pod = plan.pod();
    for (int rack = 0; rack < 4; ++rack) plan.rack(pod), plan.add_machines(4, 0, 8);
    for (std::uint64_t j = 0; j < 120; ++j) {  // all jobs are worth 1, of 1 to 32 GPUs
      const int gpus = 1 << random_below(6, {seed, j});
      plan.job({.tasks = std::max(1, gpus / 8), .gpus = std::min(8, gpus), .weight = 1.0 / gpus});
    }
    const auto value = plan.value();
    const auto pools = plan.pools();
    Occupancy greedy(value, plan.machines);
    greedy.admit(plan.jobs);
    test::add_greedily(greedy);
    Occupancy dived(value, plan.machines);
    dived.admit(plan.jobs);
    const std::vector<double> none(pools.size(), 0.0);
    dive(dived, {pools, none}, plan.jobs,
         {.passes = 1, .iterations = 1, .last_decided = 0.1, .effort = {0, 0}});
    EXPECT_GE(dived.value(), greedy.value());
  }
}

}  // namespace
}  // namespace berth::solver
