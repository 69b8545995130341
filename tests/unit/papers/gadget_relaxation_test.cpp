// SPDX-License-Identifier: Apache-2.0
// The linear program over rings and its rounding.
#include "gadget_exhaustive.hpp"
#include "petsc_environment.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "berth/papers/gadget/ring_relaxation.hpp"
#include "berth/papers/gadget/slot_rules.hpp"

namespace berth::papers::gadget {
namespace {

using testing::exhaustive_slot;
using testing::slot_jobs;
using testing::tiny_rings;

TEST(RingPricing, TheCheapestOfAllRings) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const RingCluster cluster = tiny_rings(seed, 4, 1, 1, WorkUtility::sigmoid).cluster;
    RingPrices prices;
    for (std::size_t s = 0; s < 4; ++s) {
      prices.gpu.push_back(testing::draw(9, seed, 30, s));
      prices.server_link.push_back(testing::draw(5, seed, 31, s));
    }
    for (std::size_t r = 0; r < 2; ++r) prices.rack_link.push_back(testing::draw(9, seed, 32, r));
    const auto price = [&](const Ring& ring) {
      double sum = 0.0;
      bool racks[2] = {};
      for (const ServerShare& s : ring) {
        sum += s.workers * prices.gpu[s.server];
        if (ring.size() > 1) sum += 2.0 * prices.server_link[s.server];
        racks[cluster.rack[s.server]] = true;
      }
      return sum + (racks[0] && racks[1] ? 2.0 * (prices.rack_link[0] + prices.rack_link[1]) : 0.0);
    };
    for (std::int32_t k = 1; k <= 3; ++k) {
      double least = 1e9;
      for (const Ring& ring : testing::all_rings(cluster.gpus, k)) {
        if (workers_of(ring) == k) least = std::min(least, price(ring));
      }
      EXPECT_DOUBLE_EQ(price(cheapest_ring(cluster, prices, k, 2.0)), least) << seed << ' ' << k;
    }
  }
}

/// Three servers of one GPU: half a ring of three fits on links of half its bandwidth, but no ring.
TEST(RingRelaxation, EmbedsHalfARing) {
  RingCluster cluster{
      .gpus = {1, 1, 1}, .server_link = {0.5, 0.5, 0.5}, .rack = {0, 0, 0}, .rack_link = {9.0}};
  RingJob job{.most = 3, .budget = 3, .bandwidth = 1.0, .c1 = 10.0, .c2 = 2.0, .c3 = 2.0};
  const std::vector<SlotJob> jobs = {{&job, 0, 0}};
  const double one = jobs[0].gain(1), three = jobs[0].gain(3);
  const RingRelaxation half = relax_slot(cluster, jobs);
  EXPECT_NEAR(half.value, 0.5 * one + 0.5 * three, 1e-4);
  EXPECT_NEAR(exhaustive_slot(cluster, jobs), one, 1e-12);
  cluster.server_link.assign(3, 1.0);
  EXPECT_NEAR(relax_slot(cluster, jobs).value, three, 1e-4);
}

TEST(RingRelaxation, IsAnUpperBoundAndRoundsToFeasibleRings) {
  double rounded = 0.0, best = 0.0, relaxed = 0.0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RingInstance instance = tiny_rings(seed, 3, 3, 1, WorkUtility::sigmoid);
    const auto jobs = slot_jobs(instance);
    const RingRelaxation relaxation = relax_slot(instance.cluster, jobs);
    const double optimum = exhaustive_slot(instance.cluster, jobs);
    EXPECT_GE(relaxation.bound, optimum - 1e-9) << seed;
    EXPECT_LE(relaxation.value, relaxation.bound + 1e-6) << seed;
    EXPECT_LT(relaxation.bound, relaxation.value + 1e-3 * (1.0 + relaxation.value)) << seed;
    const auto rings = round_rings(instance.cluster, jobs, relaxation, seed, 20);
    EXPECT_EQ(fault_of(instance, {rings}), "") << seed;
    EXPECT_LE(slot_gain(jobs, rings), optimum + 1e-9) << seed;
    const auto sizes = select_sizes(jobs.size(), relaxation);
    EXPECT_LE(relax_slot(instance.cluster, jobs, sizes).value, relaxation.bound + 1e-6) << seed;
    rounded += slot_gain(jobs, rings);
    best += optimum;
    relaxed += relaxation.value;
  }
  EXPECT_GT(rounded, 0.9 * best);
  EXPECT_LT(relaxed, 1.3 * best);
}

/// Each slot by the paper's program and rounding: sizes selected, the program once more, draws.
std::vector<Ring> rounded_slot(const SlotView& view) {
  const RingCluster& cluster = view.instance->cluster;
  const auto sizes = select_sizes(view.jobs.size(), relax_slot(cluster, view.jobs));
  return round_rings(cluster, view.jobs, relax_slot(cluster, view.jobs, sizes), 1, 10);
}

// Theorem 10: of the optimum that knows all slots a run has at least 1 / (3 Gamma + 1), Gamma the
// largest number of workers of a job: here a tenth. Far from tight on tiny instances.
TEST(RingRounding, HasTheoremTensShareOfTheOptimum) {
  double least = 1.0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const RingInstance instance = tiny_rings(seed, 2, 3, 3, WorkUtility::square_root);
    const RingSchedule schedule = run_slots(instance, rounded_slot);
    EXPECT_EQ(fault_of(instance, schedule), "") << seed;
    const double optimum = testing::offline_optimum(instance);
    const double share = total_utility(instance, schedule) / optimum;
    const auto gamma =
        static_cast<double>(std::ranges::max(instance.jobs, {}, &RingJob::most).most);
    EXPECT_GE(share, 1.0 / (3.0 * gamma + 1.0)) << seed;
    EXPECT_LE(share, 1.0 + 1e-9) << seed;
    least = std::min(least, share);
  }
  RecordProperty("least share of the optimum", std::to_string(least));
  EXPECT_GE(least, 0.8);
}

TEST(RingRounding, DrawsHaveTheValueOfTheProgram) {
  const RingInstance instance = tiny_rings(3, 4, 6, 1, WorkUtility::sigmoid);
  const auto jobs = slot_jobs(instance);
  const RingRelaxation vertex = relax_slot(instance.cluster, jobs);
  const RingRelaxation wide = spread(instance.cluster, vertex, 1, 8);
  EXPECT_GT(wide.columns.size(), jobs.size());
  for (const RingRelaxation& relaxation : {vertex, wide}) {
    constexpr std::uint64_t kDraws = 4000;
    double sum = 0.0;
    for (std::uint64_t draw = 0; draw < kDraws; ++draw)
      sum += slot_gain(jobs, draw_rings(jobs.size(), relaxation, 7, draw));
    EXPECT_NEAR(sum / kDraws, vertex.value, 0.02 * vertex.value);
  }
}

}  // namespace
}  // namespace berth::papers::gadget
