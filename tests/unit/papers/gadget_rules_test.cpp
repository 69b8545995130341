// SPDX-License-Identifier: Apache-2.0
// Rules over all slots: GADGET, its baselines, Berth's, and the bound.
#include "gadget_exhaustive.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "berth/papers/gadget/slot_rules.hpp"

namespace berth::papers::gadget {
namespace {

using testing::offline_optimum;
using testing::tiny_rings;

std::vector<std::int32_t> most_workers(const RingInstance& instance) {
  std::vector<std::int32_t> workers;
  for (const RingJob& job : instance.jobs) workers.push_back(job.most);
  return workers;
}

double utility_of(const RingInstance& instance, const SlotRule& rule) {
  const RingSchedule schedule = run_slots(instance, rule);
  EXPECT_EQ(fault_of(instance, schedule), "");
  EXPECT_EQ(run_slots(instance, rule), schedule);
  return total_utility(instance, schedule);
}

TEST(SlotRules, SchedulesAreFeasibleAndWithinTheBound) {
  double gadget = 0.0, berth = 0.0, best = 0.0, bounds = 0.0;
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    RingInstance instance = tiny_rings(seed, 2, 3, 3, WorkUtility::sigmoid);
    const double optimum = offline_optimum(instance);
    const double bound = utility_bound(instance);
    EXPECT_LE(optimum, bound * (1.0 + 1e-9)) << seed;
    const auto workers = most_workers(instance);
    for (const SlotRule& rule : {SlotRule(drf_slot), fifo_rule(workers), las_rule(workers)})
      EXPECT_LE(utility_of(instance, rule), optimum + 1e-9) << seed;
    gadget += utility_of(instance, gadget_slot);
    berth += utility_of(instance, berth_slot);
    best += optimum;
    bounds += bound;
  }
  EXPECT_LE(berth, best);
  EXPECT_GT(berth, gadget);
  EXPECT_GT(berth, 0.9 * best);
  EXPECT_LT(bounds, 1.5 * best);
}

TEST(SlotRules, GreedyHasHalfTheOptimumOfConcaveUtilities) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    RingInstance instance = tiny_rings(seed, 2, 3, 3, WorkUtility::square_root);
    instance.cluster.server_link.assign(2, 9.0);  // so that the greedy is the slot's optimum
    instance.cluster.rack_link.assign(2, 9.0);
    EXPECT_GE(2.0 * utility_of(instance, gadget_slot), offline_optimum(instance)) << seed;
  }
}

/// One GPU, three slots. The first job earns at its third worker-slot, the second a little at once.
TEST(SlotRules, BerthSeesWhatTheNextSlotDoesNotEarn) {
  RingInstance instance;
  instance.slots = 3;
  instance.cluster = {.gpus = {1}, .server_link = {1.0}, .rack = {0}, .rack_link = {1.0}};
  const RingJob late{.most = 1, .budget = 3, .c1 = 90.0, .c2 = 20.0, .c3 = 2.5};
  const RingJob soon{.most = 1, .budget = 3, .c1 = 1.0, .c2 = 1.0, .c3 = 1.5};
  instance.jobs = {late, soon};
  EXPECT_GT(utility_of(instance, berth_slot), 89.0);
  EXPECT_LT(utility_of(instance, gadget_slot), 2.0);
  EXPECT_NEAR(utility_bound(instance), offline_optimum(instance), 0.5);
}

/// A job that needs every slot left goes before a steeper one that can wait.
TEST(SlotRules, BerthStartsFirstWhatCannotBeMadeUpFor) {
  RingInstance instance;
  instance.slots = 4;
  instance.cluster = {.gpus = {2}, .server_link = {1.0}, .rack = {0}, .rack_link = {1.0}};
  const RingJob tight{.most = 1, .budget = 4, .c1 = 8.0, .c2 = 20.0, .c3 = 3.5};
  const RingJob steep{.most = 2, .budget = 4, .c1 = 40.0, .c2 = 20.0, .c3 = 3.5};
  instance.jobs = {steep, tight};
  EXPECT_NEAR(utility_of(instance, berth_slot), 48.0, 0.01);
  EXPECT_NEAR(utility_bound(instance), 48.0, 0.01);
}

TEST(SlotRules, FifoWaitsAndLasDoesNot) {
  RingInstance instance;
  instance.slots = 1;
  instance.cluster = {.gpus = {3}, .server_link = {1.0}, .rack = {0}, .rack_link = {1.0}};
  instance.jobs.assign(3, {.most = 2, .budget = 9, .family = WorkUtility::square_root});
  const std::vector<std::int32_t> workers = {2, 2, 1};
  const auto held = [&](const SlotRule& rule) {
    std::vector<std::int32_t> workers_held;
    const RingSchedule schedule = run_slots(instance, rule);
    for (const Ring& ring : schedule.front()) workers_held.push_back(workers_of(ring));
    return workers_held;
  };
  EXPECT_EQ(held(fifo_rule(workers)), (std::vector<std::int32_t>{2, 0, 0}));
  EXPECT_EQ(held(las_rule(workers)), (std::vector<std::int32_t>{2, 0, 1}));
  EXPECT_EQ(held(drf_slot), (std::vector<std::int32_t>{1, 1, 1}));
}

}  // namespace
}  // namespace berth::papers::gadget
