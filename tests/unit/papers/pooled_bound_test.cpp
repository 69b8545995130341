// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/pd_ors/pooled_bound.hpp"

#include "pd_ors_exhaustive.hpp"
#include "petsc_environment.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "berth/papers/pd_ors/slot_baselines.hpp"

namespace berth::papers::pd_ors {
namespace {

using testing::optimum;
using testing::tiny_instance;

TEST(PooledRate, OneMachineThenSeveral) {
  SlotInstance instance{.slots = 2, .resources = 1, .capacity = {4.0, 4.0}};
  TrainingJob job;
  job.max_workers = 4;
  job.internal_cost = 0.25;
  job.external_cost = 0.4;
  job.worker = job.server = {1.0};
  SlotRate rate = pooled_rate(instance, job);
  EXPECT_DOUBLE_EQ(rate.near_workers, 2.0);
  EXPECT_DOUBLE_EQ(rate.near_samples, 8.0);
  EXPECT_NEAR(rate.far_workers, 2.0, 1e-8);
  EXPECT_NEAR(rate.far_samples, 2.0, 1e-8);
  job.external_cost = 0.6;  // four workers on two machines do less than two on one
  EXPECT_EQ(pooled_rate(instance, job).far_samples, 0.0);
}

TEST(PooledBound, HoldsAtAnyPricesAndIsNearTheOptimum) {
  double bounds = 0.0, optima = 0.0;
  int half_prices_fail = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SlotInstance instance = tiny_instance(seed, 3, 2, 4);
    for (TrainingJob& job : instance.jobs) job.samples = 8.0;
    const double best = optimum(instance);
    const PooledPrices prices = offline_prices(instance);
    EXPECT_GE(prices.bound, best * (1.0 - 1e-12)) << seed;
    EXPECT_GE(prices.bound, prices.relaxed * (1.0 - 1e-9));
    EXPECT_LE(prices.bound - prices.relaxed, 2e-3 * prices.bound) << seed;
    bounds += prices.bound;
    optima += best;
    for (const double factor : {0.0, 0.5, 2.0}) {
      std::vector<double> other = prices.price;
      for (double& p : other) p *= factor;
      const double bound = pooled_bound(instance, other);
      EXPECT_GE(bound, best * (1.0 - 1e-12));
      EXPECT_GE(bound, prices.bound * (1.0 - 2e-3));
      // Negative control: the rent at these prices with payoffs at half of them.
      double rent = 0.0;
      for (const double p : other) rent += 6.0 * p;
      if (factor == 0.5 && bound - 0.5 * rent < best - 1e-9) ++half_prices_fail;
    }
  }
  // 4.7 % above the optimum on the mean: servers in fractions, machines as one pool.
  EXPECT_LT(bounds, 1.06 * optima);
  EXPECT_GT(half_prices_fail, 0);
}

TEST(SlotBaselines, WorkedCase) {
  SlotInstance instance{.slots = 4, .resources = 1, .capacity = {4.0, 2.0}};
  TrainingJob job;
  job.samples = 8.0;
  job.max_workers = 2;
  job.internal_cost = 0.25;
  job.external_cost = 0.5;
  job.worker = job.server = {1.0};
  instance.jobs = {job, job, job};
  const std::vector<std::int32_t> workers = {2, 1, 1};
  const auto fifo = fifo_schedules(instance, workers);
  // Tasks spread: the first job is on both machines, done after two slots; the second fits beside
  // it in two free places, the third waits for the first.
  EXPECT_EQ(fifo[0].size(), 2U);
  EXPECT_EQ(fifo[0][0].machines.size(), 2U);
  EXPECT_EQ(fifo[1].front().slot, 0);
  EXPECT_EQ(fifo[2].front().slot, 2);
  EXPECT_GT(total_utility(instance, fifo), 0.0);
  const auto drf = drf_schedules(instance);
  for (std::size_t j = 0; j < 3; ++j) {
    ASSERT_FALSE(drf[j].empty());
    EXPECT_EQ(drf[j].front().workers(), 1);  // one bundle each: the cluster is full
  }
  EXPECT_GT(total_utility(instance, drf), 0.0);
  instance.capacity = {40.0, 40.0};
  for (const JobSchedule& schedule : drf_schedules(instance)) {
    ASSERT_FALSE(schedule.empty());
    EXPECT_EQ(schedule.front().workers(), 2);  // F, though there is room for more
  }
}

}  // namespace
}  // namespace berth::papers::pd_ors
