// SPDX-License-Identifier: Apache-2.0
// What OASiS has of its own beside PD-ORS: two families of prices, and schedules that are wide.
#include "pd_ors_exhaustive.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "berth/papers/pd_ors/admission.hpp"
#include "berth/papers/pd_ors/slot_offer.hpp"

namespace berth::papers::pd_ors {
namespace {

/// A machine of 10 for workers, one of 10 for servers; 4 samples, 8 at all times.
SlotInstance one_job() {
  TrainingJob job;
  job.samples = 4.0;
  job.max_workers = 4;
  job.worker = job.server = {1.0};
  job.c1 = 16.0;
  return {.slots = 2, .resources = 1, .capacity = {10.0, 10.0}, .jobs = {job}};
}

// Each family: eta = T C / (ceil(E N q) w) = 20 / 4, L = 8 / (4 x 5 x 4) = 0.1, so that both
// together start at half the least utility; U = 8 over the demand of a task.
TEST(OasisPrices, BothFamiliesShareHalfTheLeastUtility) {
  SlotInstance instance = one_job();
  const PriceRange range = oasis_prices(instance, 1);
  for (const std::size_t machine : {0, 1}) {
    EXPECT_NEAR(range.lowest[machine], 0.1, 1e-12);
    EXPECT_DOUBLE_EQ(range.highest[machine], 8.0);
  }
  EXPECT_NEAR(SlotLedger(instance, range).rent(), 4.0, 1e-12);
  instance.jobs[0].worker = {2.0};  // the other family does not see it
  const PriceRange wide = oasis_prices(instance, 1);
  EXPECT_DOUBLE_EQ(wide.highest[0], 4.0);
  EXPECT_DOUBLE_EQ(wide.highest[1], 8.0);
  EXPECT_NEAR(wide.lowest[1], range.lowest[1], 1e-12);
}

// Equal prices and no contention: all ways to train cost the same workers, so that the utility of
// time decides, and the fewest slots are best; without hurry any slots are as good.
TEST(OasisSchedule, EqualPricesGiveTheFewestSlots) {
  SlotInstance instance = one_job();
  instance.slots = 4;
  for (const std::int32_t most : {1, 2, 4}) {
    instance.jobs[0].max_workers = most;
    instance.jobs[0].c2 = 0.5;
    const SlotLedger ledger(instance, std::vector<double>(8, 0.2));
    const auto offer = best_schedule(instance.jobs[0], ledger, SeparateSlots(1), {0, 4.0, 4});
    ASSERT_EQ(offer.schedule.size(), static_cast<std::size_t>(4 / most));
    EXPECT_EQ(offer.schedule.back().slot, 4 / most - 1);
    // 4 worker-slots, and as many of servers.
    EXPECT_NEAR(offer.cost, 0.2 * 8.0, 1e-12);
    EXPECT_NEAR(offer.payoff, instance.jobs[0].utility(4 / most - 1) - 1.6, 1e-12);
  }
}

// No more servers than workers, no more workers than the batch has parts.
TEST(OasisAdmission, ServersAreNoMoreThanWorkers) {
  std::size_t slots = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const SlotInstance instance = testing::tiny_instance(seed, 3, 2, 4);
    const auto run = run_admission(instance, oasis_prices(instance, 1), SeparateSlots(1), 8);
    for (std::size_t j = 0; j < instance.jobs.size(); ++j) {
      for (const SlotShare& share : run.schedules[j]) {
        ++slots;
        EXPECT_LE(share.servers(), share.workers());
        EXPECT_LE(share.workers(), instance.jobs[j].max_workers);
      }
    }
  }
  EXPECT_GT(slots, 20U);
}

}  // namespace
}  // namespace berth::papers::pd_ors
