// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/pd_ors/distributed_slots.hpp"

#include "pd_ors_exhaustive.hpp"
#include "petsc_environment.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "berth/papers/pd_ors/admission.hpp"
#include "berth/papers/randomised_rounding.hpp"

namespace berth::papers::pd_ors {
namespace {

using testing::optimum;
using testing::tiny_instance;

/// One job on three machines with random prices, of which one alone is too small for it.
struct Slot {
  TrainingJob job;
  SlotMarket market;

  explicit Slot(std::uint64_t seed) {
    job.max_workers = 6;
    job.workers_per_server = 1.0 + static_cast<double>(random_below(3, {seed, 1}));
    job.internal_cost = 0.25;
    job.external_cost = 0.5;
    job.worker = {2.0, 1.0};
    job.server = {0.0, 1.0};
    job.c1 = 1000.0;
    market = {.job = &job, .resources = 2};
    for (std::uint64_t h = 0; h < 3; ++h) {
      market.worker_price.push_back(1.0 + random_unit({seed, 2, h}));
      market.server_price.push_back(0.2 + random_unit({seed, 3, h}));
      market.free.push_back(static_cast<double>(2 + random_below(4, {seed, 4, h})));
      market.free.push_back(static_cast<double>(2 + random_below(4, {seed, 5, h})));
    }
  }
};

void expect_valid(const Slot& slot, double samples, const SlotOffer& offer) {
  const SlotShare share{0, offer.machines};
  EXPECT_LE(share.workers(), slot.job.max_workers);
  EXPECT_GE(share.servers(), slot.job.servers_for(share.workers()));
  EXPECT_GE(share.samples(slot.job), samples - 1e-9);
  double cost = 0.0;
  for (const MachineShare& m : offer.machines) {
    EXPECT_TRUE(slot.market.fits(m.machine, m.workers, m.servers));
    cost += m.workers * slot.market.worker_price[m.machine] +
            m.servers * slot.market.server_price[m.machine];
  }
  EXPECT_NEAR(cost, offer.cost, 1e-9);
}

TEST(DistributedSlots, BetweenTheRelaxationAndAFewPercentAboveTheBest) {
  int possible = 0, found = 0, relaxed = 0;
  double cost = 0.0, best = 0.0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Slot slot(seed);
    for (const double samples : {2.0, 4.0, 6.0, 8.0, 10.0}) {
      const SlotOffer offer = DistributedSlots({}).cheapest(slot.market, samples);
      const SlotOffer least = ExhaustiveSlots().cheapest(slot.market, samples);
      EXPECT_GE(offer.cost, least.cost - 1e-9);
      if (offer.possible()) expect_valid(slot, samples, offer);
      const auto relaxation = relax_distributed(slot.market, samples);
      if (relaxation && least.machines.size() > 1) {
        ++relaxed;
        EXPECT_LE(relaxation->cost, least.cost + 1e-5);
      }
      if (!least.possible()) continue;
      ++possible;
      if (!offer.possible()) continue;
      ++found;
      cost += offer.cost;
      best += least.cost;
    }
  }
  EXPECT_GT(relaxed, 50);
  EXPECT_GT(found, possible * 9 / 10);
  EXPECT_LT(cost, 1.05 * best);
}

TEST(DistributedSlots, LittleGainTrainsTooLittle) {
  // Prices of 1 in both: only several machines hold six workers.
  Slot slot(1);
  slot.market.free = {4.0, 4.0, 4.0, 4.0, 4.0, 4.0};
  EXPECT_TRUE(DistributedSlots({}).cheapest(slot.market, 10.0).possible());
  EXPECT_FALSE(DistributedSlots({.gain = 0.4}).cheapest(slot.market, 10.0).possible());
  // The lemma's gains are far from 1 at rows as narrow as these: either kind of row breaks.
  const DistributedOptions packing{.rule = GainRule::packing};
  const DistributedOptions covering{.rule = GainRule::covering};
  EXPECT_FALSE(DistributedSlots(packing).cheapest(slot.market, 10.0).possible());
  EXPECT_FALSE(DistributedSlots(covering).cheapest(slot.market, 10.0).possible());
}

TEST(DistributedSlots, RoundingKeepsTheMeanAndTheRisk) {
  // Twenty machines, prices equal: x = 0.5 everywhere is a solution of rows that are 40 wide.
  const std::vector<double> x(20, 0.55);
  const double gain = packing_gain(11.0, {.delta = 0.5, .rows = 1.0});
  double sum = 0.0;
  int broken = 0;
  constexpr int kDraws = 4000;
  std::vector<double> scaled = x;
  for (double& v : scaled) v *= gain;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    std::int64_t count = 0;
    for (const std::int64_t v : round_once(scaled, 7, draw)) count += v;
    sum += static_cast<double>(count);
    if (count > 11) ++broken;
  }
  const double mean = gain * 11.0, deviation = std::sqrt(20.0 * 0.25 / kDraws);
  EXPECT_NEAR(sum / kDraws, mean, 4.0 * deviation);
  EXPECT_LE(broken, kDraws * 0.5 / 3.0);
}

TEST(PdOrsAdmission, WithRoundingStaysBelowTheOptimum) {
  double own = 0.0, exact = 0.0, best = 0.0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SlotInstance instance = tiny_instance(seed, 3, 2, 4);
    for (TrainingJob& job : instance.jobs) job.samples = 8.0;
    const PriceRange range = pd_ors_prices(instance);
    const AdmissionRun run = run_admission(instance, range, DistributedSlots({}), 8);
    const double most = optimum(instance);
    EXPECT_LE(run.utility, most + 1e-9);
    own += run.utility;
    exact += run_admission(instance, range, ExhaustiveSlots(), 8).utility;
    best += most;
  }
  EXPECT_GT(own, 0.9 * exact);
  EXPECT_LT(own, 0.95 * best);
}

}  // namespace
}  // namespace berth::papers::pd_ors
