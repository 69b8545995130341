// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/home_start.hpp"

#include "tiny.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "berth/planner_model/pools.hpp"

namespace berth::solver {
namespace {

using model::Level;

/// Two racks of one machine with 8 GPUs. All jobs are at home in the first one: the job of 5 GPUs
/// is worth most per GPU, but leaves 3 that no other fits; those of 4 GPUs fill the rack.
struct HomeStart : testing::Test {
  test::Tiny tiny;
  std::vector<JobId> jobs;

  void SetUp() override {
    const ClassId machine = tiny.machine_class("m", tiny.type("X"), 8, 64'000, 64'000);
    tiny.pod();
    for (int r = 0; r < 2; ++r) {
      tiny.rack();
      tiny.machine(machine);
    }
    tiny.instance.workload.factors.push_back({1.0, 1.0, 0.2, 0.2});
    for (const int gpus : {5, 4, 4}) {
      const JobId id = tiny.job({{.gpus = gpus}});
      tiny[id].value = gpus == 5 ? 6.0 : 4.0;
      tiny[id].home_rack = RackId(0);
      tiny[id].home_factor = 1;
      jobs.push_back(id);
    }
  }
};

TEST_F(HomeStart, HomePricesChooseTheJobsThatFillTheRack) {
  const planner_model::Valuation valuation(tiny.instance, model::Objective::value);
  const planner_model::Pools pools = planner_model::make_pools(tiny.instance.cluster, Level::rack);
  const std::vector<double> start(pools.size(), 0.2);
  const HomeRackSolution found =
      home_rack_prices(valuation, {pools, start}, jobs, {.objective = 9.2, .bound = 14.0});
  std::vector<JobId> at_home;
  for (const HomeChoice& choice : found.at_home) at_home.push_back(choice.job);
  std::ranges::sort(at_home);
  EXPECT_EQ(at_home, (std::vector{jobs[1], jobs[2]}));
}

TEST_F(HomeStart, PlacesTheChosenJobsFirst) {
  const planner_model::Valuation valuation(tiny.instance, model::Objective::value);
  const planner_model::Pools pools = planner_model::make_pools(tiny.instance.cluster, Level::rack);
  const std::vector<double> prices(pools.size(), 0.2);
  const auto plan = [&](const std::vector<HomeChoice>& chosen, model::Placement& placement) {
    return plan_at_home(valuation, {pools, prices}, {.prices = {}, .at_home = chosen},
                        {.chains = 0, .repartitions = 0}, {}, placement);
  };
  model::Placement greedy, placement;
  EXPECT_NEAR(plan({}, greedy), 7.6, 1e-9);
  const std::vector<HomeChoice> chosen = {{jobs[1], GpuTypeId(0)}, {jobs[2], GpuTypeId(0)}};
  placement = greedy;
  EXPECT_NEAR(plan(chosen, placement), 9.2 - 7.6, 1e-9);
  EXPECT_EQ(placement.size(), 3U);
  EXPECT_EQ(plan({}, placement), 0.0);  // never replaced by a worse plan
}

// A job of 8 GPUs fills the home rack. In the other rack of the pod two jobs of 4 are worth more
// than the one of 5, which has more value for each GPU.
TEST_F(HomeStart, ChoosesWholeJobsForWhatIsLeftOfThePod) {
  tiny.instance.workload.factors.push_back({1.0, 1.0, 0.5, 0.1});
  for (const JobId id : jobs) tiny[id].home_factor = 2;
  const JobId large = tiny.job({{.gpus = 8}});
  tiny[large].value = 40.0;
  tiny[large].home_rack = RackId(0);
  tiny[large].home_factor = 2;
  jobs.push_back(large);
  const planner_model::Valuation valuation(tiny.instance, model::Objective::value);
  const planner_model::Pools pools = planner_model::make_pools(tiny.instance.cluster, Level::rack);
  const std::vector<double> start(pools.size(), 0.2);
  const HomeRackSolution found =
      home_rack_prices(valuation, {pools, start}, jobs, {.objective = 44.0, .bound = 60.0});
  std::vector<JobId> in_pod;
  for (const HomeChoice& choice : found.elsewhere) in_pod.push_back(choice.job);
  std::ranges::sort(in_pod);
  EXPECT_EQ(in_pod, (std::vector{jobs[1], jobs[2]}));
  model::Placement placement;
  const double value = plan_at_home(valuation, {pools, start}, found,
                                    {.chains = 0, .repartitions = 0}, {}, placement);
  EXPECT_NEAR(value, 44.0, 1e-9);
}

// Two tasks of 5 GPUs fit the pod, one on each machine, but no rack; two of 1 fit every rack.
TEST_F(HomeStart, KeepsJobsElsewhereWithinTheirDomains) {
  for (const Level domain : {Level::rack, Level::machine, Level::pod}) {
    const JobId gang = tiny.job({{.count = 2, .gpus = 5}});
    tiny[gang].value = 100.0;
    tiny[gang].domain = domain;
    const planner_model::Valuation valuation(tiny.instance, model::Objective::value);
    const planner_model::Pools pools =
        planner_model::make_pools(tiny.instance.cluster, Level::rack);
    const std::vector<double> prices(pools.size(), 0.2);
    for (const PodId pod : {PodId(0), PodId()}) {
      model::Placement placement;
      plan_at_home(valuation, {pools, prices},
                   {.prices = {}, .elsewhere = {{gang, GpuTypeId(0), false, pod}}},
                   {.chains = 0, .repartitions = 0}, {}, placement);
      EXPECT_EQ(std::ranges::count(placement, gang, &model::JobPlacement::job),
                domain == Level::pod ? 1 : 0);
    }
    tiny[gang].value = 0.0;
  }
}

}  // namespace
}  // namespace berth::solver
