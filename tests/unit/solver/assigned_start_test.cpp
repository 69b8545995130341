// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/assigned_start.hpp"

#include "tiny.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "berth/planner_model/pools.hpp"

namespace berth::solver {
namespace {

using model::Level;

/// Two pods with two racks of two machines of 8 GPUs.
test::Tiny two_pods() {
  test::Tiny tiny;
  const ClassId machine = tiny.machine_class("m", tiny.type("X"), 8, 64'000, 64'000);
  for (int rack = 0; rack < 4; ++rack) {
    if (rack % 2 == 0) tiny.pod();
    tiny.rack();
    for (int m = 0; m < 2; ++m) tiny.machine(machine);
  }
  return tiny;
}

model::Placement assigned(const test::Tiny& tiny, const std::vector<JobId>& jobs) {
  const planner_model::Valuation valuation(tiny.instance, model::Objective::value);
  const planner_model::Pools pools = planner_model::make_pools(tiny.instance.cluster, Level::rack);
  const std::vector<double> prices(pools.size(), 0.1);
  model::Placement placement;
  plan_assigned(valuation, {pools, prices}, jobs, {.chains = 0, .repartitions = 0}, {}, placement);
  return placement;
}

bool places(const model::Placement& placement, JobId job) {
  return std::ranges::binary_search(placement, job, {}, &model::JobPlacement::job);
}

/// A gang of three machines is worth most per GPU, but leaves a machine that no other can use.
TEST(AssignedStart, FillsPodsWithTheBestSet) {
  test::Tiny tiny = two_pods();
  std::vector<JobId> jobs{tiny.job({{.count = 3, .gpus = 8}})};
  tiny[jobs[0]].weight = 1.1;
  for (int i = 0; i < 4; ++i) {
    jobs.push_back(tiny.job({{.count = 2, .gpus = 8}}));
    tiny[jobs.back()].weight = 1.05;
  }
  for (const JobId job : jobs) tiny[job].domain = Level::pod;
  const model::Placement placement = assigned(tiny, jobs);
  EXPECT_EQ(placement.size(), 4U);
  EXPECT_FALSE(places(placement, jobs[0]));
}

/// A required job of little value is placed all the same.
TEST(AssignedStart, PlacesRequiredJobsFirst) {
  test::Tiny tiny = two_pods();
  std::vector<JobId> jobs{tiny.job({{.count = 3, .gpus = 8}})};
  tiny[jobs[0]].weight = 1.0;
  tiny[jobs[0]].required = true;
  for (int i = 0; i < 4; ++i) jobs.push_back(tiny.job({{.count = 2, .gpus = 8}}));
  for (const JobId job : jobs) tiny[job].domain = Level::pod;
  const model::Placement placement = assigned(tiny, jobs);
  EXPECT_EQ(placement.size(), 3U);
  EXPECT_TRUE(places(placement, jobs[0]));
}

}  // namespace
}  // namespace berth::solver
