// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/smd/smd_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "berth/base/assert.hpp"
#include "berth/base/error.hpp"
#include "berth/base/option_range.hpp"
#include "berth/base/random.hpp"

namespace berth::papers::smd {
namespace {

constexpr double kCapacitySlack = 1e-9;  ///< relative: sums of limits

void expect_in_range(bool in_range, std::size_t job, const char* field, const char* what) {
  if (in_range) return;
  throw InputError({.file = "", .line = 0, .field = field},
                   "job " + std::to_string(job) + ": " + what, "");
}

bool amounts(std::span<const double> values, std::size_t count) {
  return values.size() == count &&
         std::ranges::all_of(values, [](double v) { return v >= 0.0 && std::isfinite(v); });
}

}  // namespace

Knapsack outer_knapsack(const SmdInstance& instance, std::span<const Crew> crews) {
  BERTH_EXPECT(crews.size() == instance.jobs.size());
  Knapsack knapsack;
  knapsack.capacity = instance.capacity;
  for (std::size_t i = 0; i < crews.size(); ++i) {
    const SmdJob& job = instance.jobs[i];
    knapsack.utility.push_back(job.utility(completion_seconds(job, crews[i]), instance.time_unit));
    knapsack.size.insert(knapsack.size.end(), job.limit.begin(), job.limit.end());
  }
  return knapsack;
}

double total_utility(const SmdInstance& instance, const SmdSchedule& schedule) {
  double utility = 0.0;
  std::vector<double> reserved(instance.capacity.size(), 0.0);
  for (std::size_t i = 0; i < instance.jobs.size(); ++i) {
    if (schedule.admitted.taken[i] == 0) continue;
    const SmdJob& job = instance.jobs[i];
    BERTH_EXPECT(within_limit(job, schedule.crews[i]));
    for (std::size_t r = 0; r < reserved.size(); ++r) reserved[r] += job.limit[r];
    utility += job.utility(completion_seconds(job, schedule.crews[i]), instance.time_unit);
  }
  for (std::size_t r = 0; r < reserved.size(); ++r) {
    BERTH_EXPECT(reserved[r] <= instance.capacity[r] * (1.0 + kCapacitySlack));
  }
  return utility;
}

std::vector<Crew> fastest_crews(const SmdInstance& instance) {
  std::vector<Crew> crews;
  for (const SmdJob& job : instance.jobs) crews.push_back(fastest_crew(job));
  return crews;
}

std::vector<Crew> rounded_crews(const SmdInstance& instance, const SmdOptions& options) {
  expect_option("smd: gain", options.rounding.gain, above(0.0));
  expect_option("smd: attempts", static_cast<double>(options.rounding.most), at_least(1.0));
  std::vector<Crew> crews;
  for (std::size_t i = 0; i < instance.jobs.size(); ++i) {
    const SmdJob& job = instance.jobs[i];
    RoundingTries tries = options.rounding;
    tries.seed = random_bits({options.rounding.seed, i});
    const auto crew = sum_of_ratios(job, options.epsilon);
    crews.push_back(crew ? round_crew(job, *crew, tries) : Crew{});
  }
  return crews;
}

double utility_bound(const SmdInstance& instance) {
  return relax(outer_knapsack(instance, fastest_crews(instance))).bound;
}

void check_instance(const SmdInstance& instance) {
  const std::size_t resources = instance.capacity.size();
  expect_option("smd: time_unit", instance.time_unit, above(0.0));
  for (std::size_t r = 0; r < resources; ++r)
    expect_option("smd: capacity[" + std::to_string(r) + "]", instance.capacity[r], at_least(0.0));
  for (std::size_t i = 0; i < instance.jobs.size(); ++i) {
    const SmdJob& job = instance.jobs[i];
    expect_in_range(job.iterations > 0.0 && std::isfinite(job.iterations), i, "iterations",
                    "must be above 0");
    expect_in_range(amounts(job.worker, resources), i, "worker", "needs every resource, >= 0");
    expect_in_range(amounts(job.server, resources), i, "server", "needs every resource, >= 0");
    expect_in_range(amounts(job.limit, resources), i, "limit", "needs every resource, >= 0");
    const auto positive = [](double v) { return v > 0.0; };
    expect_in_range(std::ranges::any_of(job.worker, positive), i, "worker", "asks for nothing");
    expect_in_range(std::ranges::any_of(job.server, positive), i, "server", "asks for nothing");
    expect_in_range(job.c1 >= 0.0 && job.c2 >= 0.0, i, "utility", "must not rise with time");
  }
}

}  // namespace berth::papers::smd
