// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/selected_start.hpp"

#include "petsc_environment.hpp"
#include "tiny.hpp"

#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "berth/planner_model/pools.hpp"

namespace berth::solver {
namespace {

using model::Level;

/// Two pods of two racks with 8 machines of 8 GPUs. Gangs of 5 machines must be in one rack, gangs
/// of 11 in one pod: they fill both pods only if each gets one of each, while best fit places the
/// narrow ones side by side.
TEST(SelectedStartOfPods, SpreadsNarrowJobsOverPods) {
  test::Tiny tiny;
  const ClassId machine = tiny.machine_class("m", tiny.type("X"), 8, 64'000, 64'000);
  for (int r = 0; r < 4; ++r) {
    if (r % 2 == 0) tiny.pod();
    tiny.rack();
    for (int m = 0; m < 8; ++m) tiny.machine(machine);
  }
  std::vector<JobId> selected;
  for (const auto& [machines, domain] : {std::pair(5, Level::rack), {11, Level::pod}}) {
    for (int i = 0; i < 2; ++i) {
      selected.push_back(tiny.job({{.count = machines, .gpus = 8}}));
      tiny[selected.back()].domain = domain;
    }
  }
  const planner_model::Valuation valuation(tiny.instance, model::Objective::value);
  const planner_model::Pools pools = planner_model::make_pools(tiny.instance.cluster, Level::rack);
  const std::vector<double> prices(pools.size(), 0.1);
  SelectedOptions options;
  options.shard.dive.effort = {.chains = 0, .repartitions = 0};
  model::Placement placement;
  plan_selected(valuation, {pools, prices}, selected, options, {}, placement);
  EXPECT_EQ(placement.size(), 4U);
}

/// A gang that is worth as much on either type of GPU is packed on one of them; a gang without GPUs
/// is no item of the packing.
TEST(SelectedStartOfPods, PacksAGangOfTwoTypesOnce) {
  test::Tiny tiny;
  for (const char* type : {"X", "Y"}) {
    const ClassId machine = tiny.machine_class(type, tiny.type(type), 8, 64'000, 64'000);
    tiny.pod();
    tiny.rack();
    for (int m = 0; m < 2; ++m) tiny.machine(machine);
  }
  std::vector<JobId> selected = {tiny.job({{.count = 2, .gpus = 8}}),
                                 tiny.job({{.count = 2, .cpu_milli = 1000}})};
  for (const JobId job : selected) tiny[job].domain = Level::rack;
  const planner_model::Valuation valuation(tiny.instance, model::Objective::value);
  const planner_model::Pools pools = planner_model::make_pools(tiny.instance.cluster, Level::rack);
  model::Placement placement;
  plan_selected(valuation, {pools, std::vector<double>(pools.size(), 0.1)}, selected, {}, {},
                placement);
  EXPECT_EQ(placement.size(), 2U);
}

/// Three machines of 8 GPUs hold two tasks of 5 and four of 3 GPUs only if each 5 has a 3 beside
/// it, while the larger gang, placed first, leaves two machines with 2 GPUs each.
TEST(SelectedStartOfContents, PacksGangsWhoseTasksShareMachines) {
  test::Tiny tiny;
  const ClassId machine = tiny.machine_class("m", tiny.type("X"), 8, 64'000, 64'000);
  tiny.pod();
  tiny.rack();
  for (int m = 0; m < 3; ++m) tiny.machine(machine);
  const std::vector<JobId> selected = {tiny.job({{.count = 2, .gpus = 5}}),
                                       tiny.job({{.count = 4, .gpus = 3}})};
  const planner_model::Valuation valuation(tiny.instance, model::Objective::value);
  const planner_model::Pools pools = planner_model::make_pools(tiny.instance.cluster, Level::rack);
  SelectedOptions options;
  options.shard.dive.effort = {.chains = 0, .repartitions = 0};
  model::Placement placement;
  plan_selected(valuation, {pools, std::vector<double>(pools.size(), 0.1)}, selected, options, {},
                placement);
  EXPECT_EQ(placement.size(), 2U);
}

/// Six machines of 8 GPUs; a job runs on the last one. A quota of four machines admits either two
/// waiting gangs of two machines, or one of them beside it, which is worth more.
struct SelectedStartWithStays : testing::Test {
  test::Tiny tiny;
  JobId running;
  std::vector<JobId> selected;

  void SetUp() override {
    const ClassId machine = tiny.machine_class("m", tiny.type("X"), 8, 64'000, 64'000);
    tiny.pod();
    tiny.rack();
    for (int m = 0; m < 6; ++m) tiny.machine(machine);
    tiny.instance.cluster.queues = {{.name = "q", .gpu_quota = 32}};
    running = add(1, 4.0);
    model::Running& now = tiny.run(running, {{MachineId(5), 0, 0xff, 1000}});
    now.stop_cost = 1.0, now.move_cost = 0.5;
    selected = {add(2, 3.0), add(2, 3.5)};
  }
  JobId add(int machines, double value) {
    const JobId job = tiny.job({{.count = machines, .gpus = 8}});
    tiny[job].value = value;
    tiny[job].queue = QueueId(0);
    return job;
  }
  model::Placement plan(std::span<const JobId> staying) {
    const planner_model::Valuation valuation(tiny.instance, model::Objective::value);
    const planner_model::CouplingLimits limits(tiny.instance, model::Objective::value);
    const planner_model::Pools pools =
        planner_model::make_pools(tiny.instance.cluster, Level::rack);
    SelectedOptions options{.how = SelectedPlacement::fill_and_dive, .staying = staying};
    options.shard.dive.effort = {.chains = 0, .repartitions = 0};
    model::Placement placement;
    plan_selected(valuation, {pools, std::vector<double>(pools.size(), 0.1)}, selected, options,
                  {.limits = &limits}, placement);
    return placement;
  }
};

TEST_F(SelectedStartWithStays, KeepsThemInPlaceAndQuotas) {
  const model::Placement placement = plan(std::span(&running, 1));
  ASSERT_EQ(placement.size(), 2U);
  EXPECT_EQ(placement[0].job, running);
  EXPECT_EQ(placement[0].tasks.front().machine, MachineId(5));
  EXPECT_EQ(placement[1].job, selected[1]);
}

/// Two racks of 8 machines with 8 GPUs. Gangs of 5 and 3, and of 6 machines must be in one rack,
/// one of 2 may be anywhere: they fill both racks only if the narrow ones are placed first.
struct SelectedStart : testing::Test {
  test::Tiny tiny;
  std::vector<JobId> selected;
  model::Placement placement;

  void SetUp() override {
    const ClassId machine = tiny.machine_class("m", tiny.type("X"), 8, 64'000, 64'000);
    tiny.pod();
    for (int r = 0; r < 2; ++r) {
      tiny.rack();
      for (int m = 0; m < 8; ++m) tiny.machine(machine);
    }
    add(2, Level::cluster);
    for (const int machines : {5, 3, 6}) add(machines, Level::rack);
  }
  void add(int machines, Level domain) {
    selected.push_back(tiny.job({{.count = machines, .gpus = 8}}));
    tiny[selected.back()].domain = domain;
  }
  double plan(SelectedPlacement how) {
    const planner_model::Valuation valuation(tiny.instance, model::Objective::value);
    const planner_model::Pools pools =
        planner_model::make_pools(tiny.instance.cluster, Level::rack);
    const std::vector<double> prices(pools.size(), 0.1);
    return plan_selected(valuation, {pools, prices}, selected, {.how = how}, {}, placement);
  }
};

TEST_F(SelectedStart, FillsRacksWithNarrowJobsFirst) {
  for (const auto how : {SelectedPlacement::fill, SelectedPlacement::fill_and_dive}) {
    placement.clear();
    EXPECT_GT(plan(how), 0.0);
    EXPECT_EQ(placement.size(), 4U);
  }
}

TEST_F(SelectedStart, KeepsAPlanThatIsAsGood) {
  plan(SelectedPlacement::fill);
  selected.erase(selected.begin() + 1);
  EXPECT_EQ(plan(SelectedPlacement::fill), 0.0);
  EXPECT_EQ(placement.size(), 4U);
}

}  // namespace
}  // namespace berth::solver
