// SPDX-License-Identifier: Apache-2.0
#include "petsc_environment.hpp"
#include "smd_world.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "berth/papers/paired_statistics.hpp"
#include "berth/papers/smd/smd_schedule.hpp"

namespace berth::bench {
namespace {

using papers::KnapsackChoice;
using papers::smd::Crew;
using papers::smd::SmdInstance;

double utility_of(const SmdInstance& instance, std::vector<Crew> crews, bool knapsack) {
  papers::smd::SmdSchedule schedule{std::move(crews), {}};
  const papers::Knapsack outer = outer_knapsack(instance, schedule.crews);
  schedule.admitted = knapsack ? papers::best_knapsack(outer) : first_fit_knapsack(outer, true);
  return total_utility(instance, schedule);
}

/// Totals of 30 seeds of one setting.
struct Totals {
  std::vector<double> smd, rounded, optimus, esw, dearest_first, bound;
};

Totals totals_of(const SmdSetting& setting) {
  Totals t;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const SmdInstance instance = smd_instance(setting, seed);
    std::vector<Crew> greedy, equal;
    for (const auto& job : instance.jobs) {
      greedy.push_back(optimus_crew(job, papers::smd::OptimusGain::seconds, instance.time_unit));
      equal.push_back(equal_crew(job));
    }
    t.smd.push_back(utility_of(instance, fastest_crews(instance), true));
    t.rounded.push_back(utility_of(instance, rounded_crews(instance, {}), true));
    t.optimus.push_back(utility_of(instance, greedy, true));
    t.esw.push_back(utility_of(instance, equal, true));
    t.dearest_first.push_back(utility_of(instance, greedy, false));
    t.bound.push_back(utility_bound(instance));
    EXPECT_LE(t.smd.back(), t.bound.back() * (1 + 1e-9));
  }
  return t;
}

double ratio(const std::vector<double>& a, const std::vector<double>& b) {
  return papers::mean_interval(a).mean / papers::mean_interval(b).mean;
}

// With the same knapsack SMD ties with Optimus and is ahead of ESW; ahead of Optimus only when
// that admits without one.
TEST(SmdExperiment, ties_with_optimus_and_beats_esw) {
  for (const bool synchronous : {true, false}) {
    const Totals t = totals_of({.units = 3, .synchronous = synchronous});
    EXPECT_NEAR(ratio(t.smd, t.optimus), 1.0, 0.01);
    EXPECT_NEAR(ratio(t.smd, t.rounded), 1.0, 0.01);
    EXPECT_GT(papers::paired_difference(t.smd, t.esw).low(), 0.0);
    EXPECT_GT(papers::paired_difference(t.smd, t.dearest_first).low(), 0.0);
  }
}

/// Parts of what admitted jobs reserve that their crews use, over all resources.
double used_part(const SmdInstance& instance, const std::vector<Crew>& crews) {
  const KnapsackChoice admitted = papers::best_knapsack(outer_knapsack(instance, crews));
  double used = 0.0, reserved = 0.0;
  for (std::size_t i = 0; i < crews.size(); ++i) {
    if (admitted.taken[i] == 0) continue;
    const papers::smd::SmdJob& job = instance.jobs[i];
    for (std::size_t r = 0; r < instance.capacity.size(); ++r) {
      used += (job.worker[r] * static_cast<double>(crews[i].workers) +
               job.server[r] * static_cast<double>(crews[i].servers)) /
              instance.capacity[r];
      reserved += job.limit[r] / instance.capacity[r];
    }
  }
  return used / reserved;
}

// The fastest crews leave about half of what is reserved unused (figure 12 of the paper: 0.34 to
// 0.50 are used), as further workers and servers would slow them down.
TEST(SmdExperiment, fastest_crews_leave_reservations_unused) {
  double used = 0.0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const SmdInstance instance = smd_instance({.units = 3}, seed);
    used += used_part(instance, fastest_crews(instance)) / 10.0;
  }
  EXPECT_GT(used, 0.2);
  EXPECT_LT(used, 0.7);
}

}  // namespace
}  // namespace berth::bench
