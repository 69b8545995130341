// SPDX-License-Identifier: Apache-2.0
// GADGET's rings, links and slots.
#include "gadget_exhaustive.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace berth::papers::gadget {
namespace {

using testing::draw;
using testing::exhaustive_slot;
using testing::slot_jobs;
using testing::tiny_rings;

/// Servers of one GPU in one rack, links of this bandwidth.
RingCluster star(std::size_t servers, double link) {
  return {.gpus = std::vector<std::int32_t>(servers, 1),
          .server_link = std::vector<double>(servers, link),
          .rack = std::vector<std::size_t>(servers, 0),
          .rack_link = {100.0}};
}

RingJob concave_job(std::int32_t most) {
  return {.most = most, .budget = 100, .bandwidth = 1.0, .family = WorkUtility::square_root};
}

TEST(RingNetwork, OneServerUsesNoLink) {
  RingCluster cluster = star(1, 0.0);
  cluster.gpus = {3};
  RingNetwork network(cluster);
  const Ring ring = network.embed(3, 5.0);
  EXPECT_EQ(ring, (Ring{{0, 3}}));
  EXPECT_TRUE(network.fits(ring, 5.0));
}

TEST(RingNetwork, EachServerOfARingLoadsItsLinkOnce) {
  RingCluster cluster = star(2, 2.0);
  cluster.gpus = {3, 3};
  RingNetwork network(cluster);
  const Ring ring{{0, 2}, {1, 1}};
  network.take(ring, 1.5);
  EXPECT_TRUE(network.fits({{0, 1}, {1, 1}}, 0.5));
  EXPECT_FALSE(network.fits({{0, 1}, {1, 1}}, 0.6));
  EXPECT_TRUE(network.fits({{1, 2}}, 9.0));
  network.release(ring, 1.5);
  EXPECT_TRUE(network.fits({{0, 1}, {1, 1}}, 2.0));
}

TEST(RingNetwork, RackLinksCarryRingsOverRacksOnly) {
  RingCluster cluster = star(4, 10.0);
  cluster.rack = {0, 0, 1, 1};
  cluster.rack_link = {1.0, 1.0};
  RingNetwork network(cluster);
  EXPECT_TRUE(network.fits({{0, 1}, {1, 1}}, 2.0));
  EXPECT_FALSE(network.fits({{0, 1}, {2, 1}}, 2.0));
  EXPECT_EQ(network.embed(2, 2.0).size(), 2u);
  EXPECT_TRUE(network.embed(3, 2.0).empty());
  EXPECT_EQ(workers_of(network.embed(3, 1.0)), 3);
}

TEST(RingNetwork, RingsOverRacksLoadTheirLinks) {
  RingCluster cluster = star(4, 10.0);
  cluster.rack = {0, 0, 1, 1};
  cluster.rack_link = {1.5, 1.5};
  RingNetwork network(cluster);
  network.take({{0, 1}, {2, 1}}, 1.0);
  EXPECT_TRUE(network.fits({{1, 1}, {3, 1}}, 0.5));
  EXPECT_FALSE(network.fits({{1, 1}, {3, 1}}, 1.0));
}

TEST(SlotGreedy, AStepThatDoesNotFitIsReplacedByASmallerOne) {
  RingCluster cluster = star(2, 0.0);
  cluster.gpus = {2, 2};
  // Three workers have most utility per GPU, but no ring over both servers has room.
  const RingJob job{.most = 3, .budget = 9, .bandwidth = 1.0, .c2 = 2.0, .c3 = 2.5};
  const std::vector<SlotJob> jobs = {{&job, 0, 0}};
  EXPECT_EQ(workers_of(slot_greedy(cluster, jobs)[0]), 2);
}

TEST(RingNetwork, ThreeServersOfOneGpuNeedTheirLinks) {
  EXPECT_EQ(workers_of(RingNetwork(star(3, 1.0)).embed(3, 1.0)), 3);
  EXPECT_TRUE(RingNetwork(star(3, 0.5)).embed(3, 1.0).empty());
  const RingJob job = concave_job(3);
  const std::vector<SlotJob> jobs = {{&job, 0, 0}};
  EXPECT_EQ(workers_of(slot_greedy(star(3, 0.5), jobs)[0]), 1);
  EXPECT_EQ(workers_of(slot_greedy(star(3, 1.0), jobs)[0]), 3);
}

TEST(RingNetwork, FindsARingWheneverThereIsOne) {
  std::size_t none = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const RingInstance instance = tiny_rings(seed, 4, 3, 1, WorkUtility::sigmoid);
    const auto all = testing::all_rings(instance.cluster.gpus, 8);
    RingNetwork network(instance.cluster);
    const Ring& taken = all[static_cast<std::size_t>(draw(all.size(), seed, 20, 0))];
    if (!network.fits(taken, 1.0)) continue;
    network.take(taken, 1.0);
    for (std::int32_t k = 1; k <= 8; ++k) {
      const bool exists = std::ranges::any_of(
          all, [&](const Ring& r) { return workers_of(r) == k && network.fits(r, 1.0); });
      const Ring found = network.embed(k, 1.0);
      EXPECT_EQ(!found.empty(), exists) << seed << ' ' << k;
      EXPECT_TRUE(found.empty() || (workers_of(found) == k && network.fits(found, 1.0)));
      none += exists ? 0u : 1u;
    }
  }
  EXPECT_GT(none, 50u);
}

TEST(RingJob, GainsAreRightAndNeverVanish) {
  const RingJob near{.efficiency = 2.0, .c1 = 7.0, .c2 = 0.3, .c3 = 9.0};
  EXPECT_NEAR(std::exp(near.log_gain(3, 4)), near.utility(7) - near.utility(3), 1e-12);
  const RingJob root{.efficiency = 2.0, .family = WorkUtility::square_root, .c1 = 7.0};
  EXPECT_NEAR(std::exp(root.log_gain(3, 4)), root.utility(7) - root.utility(3), 1e-12);
  // The first steps of a steep, late sigmoid: zero as numbers, in order as logarithms.
  const RingJob far{.efficiency = 100.0, .c1 = 10.0, .c2 = 0.9, .c3 = 3000.0};
  EXPECT_EQ(far.utility(5) - far.utility(1), 0.0);
  EXPECT_GT(far.log_gain(1, 4), far.log_gain(0, 4));
  EXPECT_TRUE(std::isfinite(far.log_gain(0, 1)));
  EXPECT_TRUE(std::isfinite(far.log_gain(90, 1)));
}

TEST(SlotGreedy, AJobFarFromItsTurnGetsIdleGpus) {
  const RingJob far{.most = 2, .budget = 50, .efficiency = 100.0, .c2 = 0.9, .c3 = 3000.0};
  const std::vector<SlotJob> jobs = {{&far, 0, 0}};
  EXPECT_EQ(workers_of(slot_greedy(star(4, 9.0), jobs)[0]), 2);
}

TEST(WorkerSlots, BothReadingsOfABudget) {
  EXPECT_EQ(worker_slots_of(1000.0, 300.0, BudgetReading::iterations), 3);
  EXPECT_EQ(worker_slots_of(1000.0, 300.0, BudgetReading::worker_slots), 1000);
}

TEST(SlotGreedy, ExactWhereGainsFallAndLinksDoNotBind) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    RingInstance instance = tiny_rings(seed, 3, 3, 1, WorkUtility::square_root);
    instance.cluster.server_link.assign(3, 9.0);
    instance.cluster.rack_link.assign(2, 9.0);
    const auto jobs = slot_jobs(instance);
    const double best = exhaustive_slot(instance.cluster, jobs);
    EXPECT_NEAR(slot_gain(jobs, slot_greedy(instance.cluster, jobs)), best, 1e-9) << seed;
    EXPECT_NEAR(slot_optimum(jobs, instance.cluster.total_gpus()), best, 1e-9) << seed;
  }
}

TEST(SlotGreedy, NearTheOptimumWithScarceLinks) {
  double sum = 0.0, most = 0.0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const RingInstance instance = tiny_rings(seed, 3, 3, 1, WorkUtility::sigmoid);
    const auto jobs = slot_jobs(instance);
    const auto rings = slot_greedy(instance.cluster, jobs);
    EXPECT_EQ(fault_of(instance, {rings}), "");
    const double best = exhaustive_slot(instance.cluster, jobs);
    EXPECT_LE(slot_gain(jobs, rings), best + 1e-9);
    EXPECT_GE(slot_optimum(jobs, instance.cluster.total_gpus()), best - 1e-9);
    sum += slot_gain(jobs, rings);
    most += best;
  }
  EXPECT_GT(sum, 0.9 * most);
}

TEST(SlotOptimum, MoreRoomIsNeverWorse) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    RingInstance instance = tiny_rings(seed, 3, 3, 1, WorkUtility::sigmoid);
    const auto jobs = slot_jobs(instance);
    const double before = exhaustive_slot(instance.cluster, jobs);
    instance.cluster.rack_link[1] += 1.0;
    const double wider = exhaustive_slot(instance.cluster, jobs);
    instance.cluster.gpus[0] += 1;
    EXPECT_GE(wider, before);
    EXPECT_GE(exhaustive_slot(instance.cluster, jobs), wider);
  }
}

TEST(RingSchedule, FaultsAreNamed) {
  RingInstance instance{.slots = 2, .cluster = star(3, 1.0), .jobs = {concave_job(3)}};
  const Ring two{{0, 1}, {1, 1}};
  const auto fault = [&](const RingSchedule& schedule) { return fault_of(instance, schedule); };
  EXPECT_EQ(fault({{two}, {two}}), "");
  EXPECT_EQ(fault({{two}, {two}, {two}}), "too many slots");
  EXPECT_EQ(fault({{{}}, {Ring{{0, 2}}}}), "slot 1, job 0: GPUs or links");
  instance.jobs[0].budget = 3;
  EXPECT_EQ(fault({{two}, {two}}), "slot 1, job 0: beyond its budget");
  instance.jobs[0].most = 1;
  EXPECT_EQ(fault({{two}}), "slot 0, job 0: more workers than it may have");
  instance.jobs[0].arrival = 1;
  EXPECT_EQ(fault({{two}}), "slot 0, job 0: before its arrival");
  instance.jobs[0] = concave_job(3);
  instance.jobs.push_back(concave_job(3));
  EXPECT_EQ(fault({{two, Ring{{2, 1}}}}), "");
  instance.cluster.server_link[1] = 0.5;
  EXPECT_EQ(fault({{two, Ring{{2, 1}}}}), "slot 0, job 0: GPUs or links");
}

}  // namespace
}  // namespace berth::papers::gadget
