// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/job_prices.hpp"

#include "bounding/knapsack.hpp"
#include "instance_builder.hpp"
#include "random_tiny.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"
#include "berth/certify/bound.hpp"
#include "berth/parallel/threads.hpp"

namespace berth::solver {
namespace {

using bounding::JobItem;
using bounding::Knapsack;

/// Most profit of a subset in at most `gpus`, plus `rate` for each GPU left.
double by_trying_all(const std::vector<JobItem>& items, std::int32_t gpus, double rate) {
  double best = 0.0;
  for (std::uint32_t set = 0; set < (1U << items.size()); ++set) {
    std::int32_t taken = 0;
    double profit = 0.0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (((set >> i) & 1) != 0) taken += items[i].size, profit += items[i].profit;
    }
    if (taken <= gpus) best = std::max(best, profit + rate * (gpus - taken));
  }
  return best;
}

std::vector<JobItem> some_items(std::uint64_t seed, std::uint32_t count) {
  std::vector<JobItem> items;
  for (std::uint32_t i = 0; i < count; ++i) {
    const double size = std::floor(1.0 + 6.0 * random_unit({seed, i, 0}));
    items.push_back({size * random_unit({seed, i, 1}), i, static_cast<std::int32_t>(size)});
  }
  return items;
}

TEST(Knapsack, finds_the_best_set_and_names_it) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const std::vector<JobItem> items = some_items(seed, 9);
    Knapsack knapsack;
    knapsack.reset(13, 0.1, 5);
    knapsack.add(items);
    EXPECT_NEAR(knapsack.max_profit(), by_trying_all(items, 13, 0.1), 1e-12);
    std::int32_t taken = 0;
    double profit = 0.0;
    knapsack.visit_choice(13, [&](std::uint32_t job, std::uint32_t spot) {
      taken += items[job].size, profit += items[job].profit;
      EXPECT_EQ(spot, 5U);
    });
    EXPECT_LE(taken, 13);
    EXPECT_NEAR(profit + 0.1 * (13 - taken), knapsack.max_profit(), 1e-12);
  }
}

/// Two racks of 7 and a wide job: at best it takes 5 of one and 3 of the other.
TEST(Knapsack, gives_wide_jobs_gpus_of_all_parts) {
  Knapsack a, b, both;
  a.reset(7, 0.0, 0), b.reset(7, 0.0, 1);
  a.add(std::vector<JobItem>{{3.0, 0, 2}, {1.0, 1, 5}});
  b.add(std::vector<JobItem>{{4.0, 2, 4}, {1.0, 3, 3}});
  both.join(std::vector<const Knapsack*>{&a, &b}, a.capacity() + b.capacity(), 2);
  both.add(std::vector<JobItem>{{9.0, 4, 8}});
  EXPECT_EQ(both.max_profit(), 16.0);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> chosen;  // with the spot
  both.visit_choice(14,
                    [&](std::uint32_t job, std::uint32_t spot) { chosen.emplace_back(job, spot); });
  std::ranges::sort(chosen);
  EXPECT_EQ(chosen, (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 0}, {2, 1}, {4, 2}}));
}

/// Two racks of 7 GPUs in units of 4 are one unit each, the pod has three.
TEST(Knapsack, gives_wide_jobs_units_that_no_part_has) {
  Knapsack a, b, both;
  a.reset(1, 0.0, 0), b.reset(1, 0.0, 1);
  a.add(std::vector<JobItem>{{3.0, 0, 1}});
  both.join(std::vector<const Knapsack*>{&a, &b}, 3, 2);
  both.add(std::vector<JobItem>{{9.0, 1, 2}});
  EXPECT_EQ(both.capacity(), 3);
  EXPECT_EQ(both.max_profit(), 12.0);
  std::vector<std::uint32_t> chosen;
  both.visit_choice(3, [&](std::uint32_t job, std::uint32_t) { chosen.push_back(job); });
  std::ranges::sort(chosen);
  EXPECT_EQ(chosen, (std::vector<std::uint32_t>{0, 1}));
}

/// Without shares, and without limits but GPUs; jobs without GPUs are worth nothing.
model::Instance gpus_only(test::Dice& dice) {
  model::Instance instance = test::random_tiny(dice);
  for (model::Shape& s : instance.workload.shapes) {
    s = {.gpus = s.gpu_milli > 0 ? 1 : s.gpus};
  }
  for (model::Job& job : instance.workload.jobs) {
    if (instance.workload.gpu_milli(job) == 0) job.value = 0.0;
  }
  return instance;
}

TEST(JobPrices, bound_is_the_one_that_the_judge_computes) {
  int lower = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    test::Dice dice(seed);
    const model::Instance instance = gpus_only(dice);
    const planner_model::Valuation value(instance, model::Objective::value);
    const std::vector<JobId> jobs = whole_gpu_jobs(instance);
    const std::vector<double> start(jobs.size(), 0.5);
    const auto found =
        minimise_job_prices(value, jobs, start, {}, {.slack = 1.0}, {.evaluations = 40});
    model::Certificate prices;
    prices.scale_log2 = 40;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      prices.jobs.push_back({jobs[i], std::llround(std::ldexp(found.prices[i], 40))});
    }
    const auto bound = certify::upper_bound(instance, model::Objective::value, prices, {});
    const double judged = std::ldexp(static_cast<double>(bound.machines + bound.jobs), -40);
    EXPECT_NEAR(found.bound, judged, 1e-6);
    if (found.bound < found.start - 1e-6) ++lower;
  }
  EXPECT_GT(lower, 100);
}

TEST(Knapsack, counts_the_cells_that_it_computes) {
  Knapsack left, right, both;
  left.reset(9, 0.0, 0);
  EXPECT_EQ(left.cells(), 10);
  left.add(some_items(1, 3));
  EXPECT_EQ(left.cells(), 10 + 3 * 10);
  right.reset(4, 0.0, 1);
  both.join(std::vector<const Knapsack*>{&left, &right}, 13, 2);
  EXPECT_EQ(both.cells(), 10 + 10 * 5);
  both.add(some_items(2, 2));
  EXPECT_EQ(both.cells(), 10 + 10 * 5 + 2 * 14);
}

TEST(JobPrices, end_after_so_many_cells) {
  const test::InstanceBuilder plan = test::mixed_instance(3, 200);
  const auto value = plan.value();
  const std::vector<JobId> jobs = whole_gpu_jobs(plan.instance);
  const std::vector<double> start(jobs.size(), 1.0);
  const auto evaluations = [&](std::int64_t cells) {
    return minimise_job_prices(value, jobs, start, {}, {.slack = 10.0},
                               {.evaluations = 40, .most_cells = cells})
        .evaluations;
  };
  EXPECT_EQ(evaluations(1), 1);
  const int some = evaluations(1'000'000);
  EXPECT_GT(some, 1);
  EXPECT_LT(some, 40);
  EXPECT_NEAR(evaluations(2'000'000), 2 * some, 2);
}

TEST(JobPrices, do_not_depend_on_threads) {
  const test::InstanceBuilder plan = test::mixed_instance(3, 200);
  const auto value = plan.value();
  const std::vector<JobId> jobs = whole_gpu_jobs(plan.instance);
  const std::vector<double> start(jobs.size(), 1.0);
  const auto with = [&](int threads) {
    const parallel::ThreadLimit limit(threads);
    return minimise_job_prices(value, jobs, start, {}, {.slack = 10.0}, {.evaluations = 20}).prices;
  };
  EXPECT_FALSE(jobs.empty());
  EXPECT_EQ(with(1), with(4));
}

TEST(JobPrices, are_for_jobs_of_whole_gpus) {
  test::Tiny tiny;
  tiny.job({{.gpus = 1}, {.cpu_milli = 5}});
  tiny.job({{.gpu_milli = 500}});
  tiny.job({{.gpus = 1}, {.gpu_milli = 500}});
  tiny.job({{.cpu_milli = 5}});
  EXPECT_EQ(whole_gpu_jobs(tiny.instance), std::vector<JobId>{JobId(0)});
}

}  // namespace
}  // namespace berth::solver
