// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/pd_ors/replanning.hpp"

#include "pd_ors_exhaustive.hpp"
#include "petsc_environment.hpp"

#include <gtest/gtest.h>

#include "berth/papers/pd_ors/admission.hpp"

namespace berth::papers::pd_ors {
namespace {

using testing::optimum;
using testing::tiny_instance;

TEST(Replanning, BetweenTheOptimumAndWhatIsAdmittedOnce) {
  double own = 0.0, admitted = 0.0, best = 0.0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SlotInstance instance = tiny_instance(seed, 3, 2, 4);
    for (TrainingJob& job : instance.jobs) job.samples = 8.0;
    const auto schedules = replanned_schedules(instance, {.units = 8});
    const double utility = total_utility(instance, schedules);
    const double most = optimum(instance);
    EXPECT_LE(utility, most + 1e-9) << seed;
    own += utility;
    best += most;
    admitted += run_admission(instance, pd_ors_prices(instance), ExhaustiveSlots(), 8).utility;
    EXPECT_EQ(replanned_schedules(instance, {.units = 8}), schedules);
  }
  EXPECT_GT(own, 0.98 * best);
  EXPECT_LT(admitted, 0.92 * best);
}

TEST(Replanning, IsNearTheOptimumWhenAllJobsAreThere) {
  double own = 0.0, best = 0.0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SlotInstance instance = tiny_instance(seed, 3, 2, 3);
    for (TrainingJob& job : instance.jobs) {
      job.samples = 8.0;
      job.arrival = 0;
    }
    own += total_utility(instance, replanned_schedules(instance, {.units = 8}));
    best += optimum(instance);
  }
  EXPECT_GT(own, 0.97 * best);
}

/// A later job worth more takes the machine of one that was begun: admission once cannot.
TEST(Replanning, MakesWayForAJobWorthMore) {
  TrainingJob small;
  small.samples = 3.0;
  small.worker = {1.0};
  small.server = {0.0};
  small.c1 = 2.0;
  TrainingJob large = small;
  large.arrival = 1;
  large.samples = 2.0;
  large.c1 = 200.0;
  const SlotInstance instance{
      .slots = 3, .resources = 1, .capacity = {1.0}, .jobs = {small, large}};
  EXPECT_DOUBLE_EQ(total_utility(instance, replanned_schedules(instance)), 100.0);
  EXPECT_DOUBLE_EQ(run_admission(instance, pd_ors_prices(instance), ExhaustiveSlots(), 3).utility,
                   1.0);
}

/// Two jobs of two slots compete for three, so that a cheap one is not worth a slot when it
/// arrives. The last slot is free and has no price once nobody else can use it: too late for a plan
/// that admits on arrival.
TEST(Replanning, IrrevocablePlansRefuseForGood) {
  TrainingJob dear;
  dear.samples = 2.0;
  dear.worker = {1.0};
  dear.server = {0.0};
  dear.c1 = 1000.0;
  TrainingJob cheap = dear;
  cheap.samples = 1.0;
  cheap.c1 = 0.1;
  const SlotInstance instance{
      .slots = 3, .resources = 1, .capacity = {1.0}, .jobs = {dear, dear, cheap}};
  EXPECT_TRUE(replanned_schedules(instance, {.irrevocable = true})[2].empty());
  EXPECT_FALSE(replanned_schedules(instance)[2].empty());  // control
}

/// Every job is decided in the slot of its arrival, so that later jobs change nothing of it.
TEST(Replanning, IrrevocableSchedulesDoNotChangeWithLaterJobs) {
  double own = 0.0, free = 0.0, admitted = 0.0;
  int differs = 0;  // control: free plans do change
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SlotInstance instance = tiny_instance(seed, 3, 2, 4);
    for (TrainingJob& job : instance.jobs) job.samples = 8.0;
    const ReplanOptions once{.units = 8, .irrevocable = true};
    const auto all = replanned_schedules(instance, once);
    own += total_utility(instance, all);
    free += total_utility(instance, replanned_schedules(instance, {.units = 8}));
    admitted += run_admission(instance, pd_ors_prices(instance), ExhaustiveSlots(), 8).utility;
    for (std::size_t j = 0; j < all.size(); ++j) {
      EXPECT_EQ(all[j].empty(), earned(instance.jobs[j], all[j]) == 0.0) << seed;
    }
    SlotInstance early = instance;
    std::erase_if(early.jobs, [](const TrainingJob& job) { return job.arrival > 0; });
    const auto before = replanned_schedules(early, once);
    const auto freely = replanned_schedules(early, {.units = 8});
    const auto later = replanned_schedules(instance, {.units = 8});
    for (std::size_t j = 0; j < before.size(); ++j) {
      EXPECT_EQ(before[j], all[j]) << seed;
      differs += freely[j] == later[j] ? 0 : 1;
    }
  }
  EXPECT_GT(differs, 0);
  EXPECT_LE(own, free);
  EXPECT_GT(own, admitted);
}

}  // namespace
}  // namespace berth::papers::pd_ors
