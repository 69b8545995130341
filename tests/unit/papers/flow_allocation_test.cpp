// SPDX-License-Identifier: Apache-2.0
// Berth's allocation of GPUs for mean completion time: closed forms, exhaustion, hysteresis.
#include "berth/papers/flow_allocation.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::papers {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

FlowJob power_job(double remaining, double p, std::int32_t largest, double scale = 1.0) {
  FlowJob job{.remaining = remaining, .rates = {0.0}};
  for (std::int32_t c = 1; c <= largest; ++c) job.rates.push_back(scale * std::pow(c, p));
  return job;
}

TEST(FlowAllocation, linear_rates_give_all_to_the_shortest_and_flat_ones_share) {
  const std::vector<FlowJob> linear{power_job(9, 1, 12), power_job(3, 1, 12), power_job(6, 1, 12)};
  EXPECT_EQ(allocate_by_rank(linear, 12, kInfinite), (std::vector<std::int32_t>{0, 12, 0}));
  const std::vector<FlowJob> equal(3, power_job(6, 0.5, 12));
  EXPECT_EQ(allocate_by_rank(equal, 12, 1.0), (std::vector<std::int32_t>{4, 4, 4}));
}

TEST(FlowAllocation, power_rates_give_the_shares_of_hesrpt) {
  // shares (k / m)^q - ((k - 1) / m)^q, k = 1 the longest; q = 2 for p = 1/2
  const std::vector<FlowJob> jobs{power_job(30, 0.5, 900), power_job(20, 0.5, 900),
                                  power_job(10, 0.5, 900)};
  const auto gpus = allocate_by_rank(jobs, 900, 2.0);
  EXPECT_NEAR(gpus[0], 100, 1);
  EXPECT_NEAR(gpus[1], 300, 1);
  EXPECT_NEAR(gpus[2], 500, 1);
}

TEST(FlowAllocation, rates_that_are_not_concave_are_taken_in_steps_that_fit) {
  FlowJob gang{.remaining = 10, .rates = {0, 1, 1, 1, 8}};  // worth it with four GPUs only
  const FlowJob other = power_job(10, 1, 4, 1.5);
  const std::vector<FlowJob> jobs{gang, other};
  EXPECT_EQ(allocate_by_rank(jobs, 4, 1.0), (std::vector<std::int32_t>{4, 0}));
  EXPECT_EQ(allocate_by_rank(jobs, 3, 1.0)[0], 1);
}

/// Least total time over all first allocations, and all after each completion. Without pauses.
double least_flow(const std::vector<FlowJob>& jobs, std::int32_t gpus) {
  if (jobs.empty()) return 0.0;
  double least = kInfinite;
  std::vector<std::int32_t> held(jobs.size());
  const std::function<void(std::size_t, std::int32_t)> give = [&](std::size_t j,
                                                                  std::int32_t left) {
    if (j < jobs.size()) {
      for (std::int32_t c = 0; c <= left; ++c) {
        held[j] = c;
        give(j + 1, left - c);
      }
      return;
    }
    double first = kInfinite;
    std::size_t ending = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const double rate = jobs[i].rates[static_cast<std::size_t>(held[i])];
      if (rate > 0.0 && jobs[i].remaining / rate < first) {
        first = jobs[i].remaining / rate;
        ending = i;
      }
    }
    if (std::isinf(first)) return;
    std::vector<FlowJob> rest = jobs;
    for (std::size_t i = 0; i < rest.size(); ++i)
      rest[i].remaining -= first * rest[i].rates[static_cast<std::size_t>(held[i])];
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(ending));
    for (FlowJob& job : rest) job.remaining = std::max(job.remaining, 1e-9);
    const double total = first * static_cast<double>(jobs.size());
    const std::vector<std::int32_t> mine = held;
    least = std::min(least, total + least_flow(rest, gpus));
    held = mine;
  };
  give(0, gpus);
  return least;
}

TEST(FlowAllocation, is_near_the_best_of_all_allocations_that_change_at_completions) {
  double worst = 1.0, sum = 0.0;
  constexpr int kCases = 60;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    std::vector<FlowJob> jobs;
    for (std::uint64_t j = 0; j < 3; ++j) {
      jobs.push_back(power_job(1.0 + 20.0 * random_unit({seed, j, 0}),
                               0.3 + 0.7 * random_unit({seed, j, 1}), 5,
                               0.5 + random_unit({seed, j, 2})));
    }
    const auto chosen = choose_gpus(jobs, 5);
    double total = kInfinite;
    for (const double q : {1.0, 2.0, 3.0, 5.0, 10.0, kInfinite})
      total = std::min(total, total_flow(jobs, 5, chosen, q));
    const double ratio = total / least_flow(jobs, 5);
    EXPECT_GE(ratio, 1.0 - 1e-9);
    worst = std::max(worst, ratio);
    sum += ratio;
  }
  RecordProperty("worst", std::to_string(worst));
  RecordProperty("mean", std::to_string(sum / kCases));
  EXPECT_LT(worst, 1.15);
  EXPECT_LT(sum / kCases, 1.03);
}

/// Least sum of times left when no GPU moves any more, a GPU each at least.
double least_left(std::span<const FlowJob> jobs, std::int32_t gpus) {
  if (jobs.empty()) return 0.0;
  double least = kInfinite;
  const auto rest = static_cast<std::int32_t>(jobs.size()) - 1;
  for (std::int32_t c = 1; c <= gpus - rest; ++c) {
    const double left = jobs.front().remaining / jobs.front().rates[static_cast<std::size_t>(c)];
    least = std::min(least, left + least_left(jobs.subspan(1), gpus - c));
  }
  return least;
}

TEST(Optimus, gains_give_the_least_sum_of_times_left) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::vector<FlowJob> jobs;
    for (std::uint64_t j = 0; j < 3; ++j)
      jobs.push_back(power_job(1.0 + 20.0 * random_unit({seed, j, 0}),
                               0.3 + 0.7 * random_unit({seed, j, 1}), 8));
    const auto gpus = allocate_by_gain(jobs, 8);
    double left = 0.0;
    for (std::size_t j = 0; j < 3; ++j)
      left += jobs[j].remaining / jobs[j].rates[static_cast<std::size_t>(gpus[j])];
    EXPECT_NEAR(left, least_left(jobs, 8), 1e-9);
  }
  const std::vector<FlowJob> crowd(5, power_job(3, 1, 8));
  EXPECT_EQ(allocate_by_gain(crowd, 3), (std::vector<std::int32_t>{1, 1, 1, 0, 0}));
}

TEST(FlowAllocation, what_is_held_stays_when_a_change_costs_more_than_it_gains) {
  std::vector<FlowJob> jobs{power_job(100, 0.8, 4), power_job(90, 0.8, 4)};
  for (FlowJob& job : jobs) job.held = 2;
  const auto free_change = choose_gpus(jobs, 4);
  EXPECT_NE(free_change, (std::vector<std::int32_t>{2, 2}));
  for (FlowJob& job : jobs) job.pause = 1e6;
  EXPECT_EQ(choose_gpus(jobs, 4), (std::vector<std::int32_t>{2, 2}));
}

}  // namespace
}  // namespace berth::papers
