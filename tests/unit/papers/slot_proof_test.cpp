// SPDX-License-Identifier: Apache-2.0
// What the judge proves about jobs in slots, against exhaustion and the bound of the library.

#include "berth/papers/slot_proof.hpp"

#include "pd_ors_exhaustive.hpp"
#include "petsc_environment.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/error.hpp"
#include "berth/base/random.hpp"
#include "berth/certify/slots.hpp"
#include "berth/papers/knapsack.hpp"
#include "berth/papers/pd_ors/pooled_bound.hpp"

namespace berth::bench {
namespace {

using papers::pd_ors::offline_prices;
using papers::pd_ors::pooled_bound;
using papers::pd_ors::PooledPrices;
using papers::pd_ors::SlotInstance;
using papers::pd_ors::testing::optimum;
using papers::pd_ors::testing::tiny_instance;

std::vector<double> drawn_prices(const SlotInstance& instance, std::uint64_t seed, double scale) {
  std::vector<double> price;
  for (std::int32_t t = 0; t < instance.slots; ++t)
    price.push_back(scale * random_unit({seed, static_cast<std::uint64_t>(t)}));
  return price;
}

// The looseness of the bound is held at 8 % above the optima of these instances together.
TEST(SlotProof, NoPricesProveLessThanTheOptimum) {
  double proved = 0.0, best = 0.0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const SlotInstance instance = tiny_instance(seed, 3, 2, 4);
    const double most = optimum(instance);
    for (const double scale : {0.0, 0.3, 3.0, 30.0})
      EXPECT_GE(papers::proved_utility(instance, drawn_prices(instance, seed, scale)), most)
          << seed;
    const PooledPrices prices = offline_prices(instance);
    const double judged = papers::proved_utility(instance, prices.price);
    EXPECT_GE(judged, most) << seed;
    EXPECT_LE(judged, prices.bound * (1.0 + 1e-5)) << seed;
    proved += judged;
    best += most;
  }
  EXPECT_LT(proved, 1.08 * best);
}

// The library counts fractions of workers where the judge counts whole ones; jobs of several slots
// on few workers make them equal.
TEST(SlotProof, IsTheBoundOfTheLibraryOrBetter) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SlotInstance instance = tiny_instance(seed, 6, 3, 8);
    SlotInstance narrow = instance;
    for (auto& job : narrow.jobs) {
      job.samples = 8.0;
      job.max_workers = 1;
    }
    for (const double scale : {0.1, 1.0, 10.0}) {
      const auto price = drawn_prices(instance, seed, scale);
      const double bound = pooled_bound(instance, price);
      EXPECT_LE(papers::proved_utility(instance, price), bound * (1.0 + 1e-5)) << seed;
      const double equal = pooled_bound(narrow, price);
      EXPECT_NEAR(papers::proved_utility(narrow, price), equal, 1e-5 * (1.0 + equal)) << seed;
    }
  }
}

// Without prices all jobs run at once: each its best completion, whole slots.
TEST(SlotProof, ByHand) {
  certify::SlotTrainings one{.slots = 3,
                             .resources = 1,
                             .capacity = {4.0, 4.0},
                             .jobs = {{.samples = 8.0,
                                       .max_workers = 4,
                                       .internal_cost = 0.3125,
                                       .external_cost = 0.75,
                                       .worker = {1.0},
                                       .server = {1.0},
                                       .utility = {10.0, 9.0, 5.0}}}};
  const std::vector<std::int64_t> free(3, 0);
  // Two workers and servers of one machine train 6.4 in a slot, four workers of two 5.33.
  EXPECT_DOUBLE_EQ(certify::prove_slots(one, free), 9.0);
  // 2.5 worker-slots with servers, 5 units at 1/8, beside 24 units of all slots.
  const std::vector<std::int64_t> dear(3, std::int64_t{1} << (certify::kSlotPriceLog2 - 3));
  EXPECT_NEAR(certify::prove_slots(one, dear), 9.0 - 5.0 / 8.0 + 24.0 / 8.0, 1e-6);
}

TEST(SlotProof, KnapsackPricesBoundEveryAdmission) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    papers::Knapsack knapsack{.capacity = {10.0, 8.0}, .utility = {}, .size = {}};
    for (std::uint64_t i = 0; i < 9; ++i) {
      knapsack.utility.push_back(1.0 + 20.0 * random_unit({seed, i, 0}));
      knapsack.size.push_back(1.0 + 4.0 * random_unit({seed, i, 1}));
      knapsack.size.push_back(1.0 + 4.0 * random_unit({seed, i, 2}));
    }
    const auto relaxed = papers::relax(knapsack);
    const double proved = papers::proved_utility(knapsack, relaxed.price);
    EXPECT_GE(proved, papers::best_knapsack(knapsack).utility);
    EXPECT_NEAR(proved, relaxed.bound, 1e-5 * relaxed.bound);
  }
}

TEST(SlotProof, RefusesWhatItCannotProve) {
  const certify::SlotTrainings sound{
      .slots = 1,
      .resources = 1,
      .capacity = {1.0},
      .jobs = {{.worker = {1.0}, .server = {0.0}, .utility = {1.0}}}};
  EXPECT_NO_THROW((void)certify::prove_slots(sound, std::vector<std::int64_t>{0}));
  EXPECT_THROW((void)certify::prove_slots(sound, std::vector<std::int64_t>{-1}), InputError);
  EXPECT_THROW((void)certify::prove_slots(sound, std::vector<std::int64_t>{}), InputError);
  certify::SlotTrainings broken = sound;
  broken.jobs[0].utility = {1.0, 1.0};
  try {
    (void)certify::prove_slots(broken, std::vector<std::int64_t>{0});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("job number 1"), std::string::npos);
  }
}

}  // namespace
}  // namespace berth::bench
