// SPDX-License-Identifier: Apache-2.0
// The program of flows on any network: the oracle of rings on trees.
#include "gadget_exhaustive.hpp"
#include "petsc_environment.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/error.hpp"
#include "berth/papers/gadget/flow_program.hpp"
#include "berth/papers/gadget/ring_relaxation.hpp"

namespace berth::papers::gadget {
namespace {

using testing::exhaustive_slot;
using testing::slot_jobs;
using testing::tiny_rings;

/// Three servers of one GPU, links of this bandwidth from each to the next, and back.
Substrate triangle(double bandwidth, bool back) {
  Substrate substrate{.gpus = {1, 1, 1}, .links = {}};
  for (std::size_t s = 0; s < 3; ++s) {
    substrate.links.push_back({s, (s + 1) % 3, bandwidth});
    if (back) substrate.links.push_back({(s + 1) % 3, s, bandwidth});
  }
  return substrate;
}

/// One ring of three counts; one of two is worth little more than one of one.
RingJob ring_of_three() {
  return {.most = 3, .budget = 3, .bandwidth = 1.0, .c1 = 10.0, .c2 = 2.0, .c3 = 2.5};
}

/// Every part is a ring: ways are connected, workers on GPUs, loads within the capacities, and the
/// parts have the value of the flows.
void expect_rings(const Substrate& substrate, std::span<const SlotJob> jobs,
                  const FlowRelaxation& relaxation) {
  constexpr double kRounding = 1e-5;
  std::vector<double> gpus(substrate.gpus.size(), 0.0), link(substrate.links.size(), 0.0);
  std::vector<double> part(jobs.size(), 0.0);
  double value = 0.0;
  for (const EmbeddedRing& ring : relaxation.rings) {
    ASSERT_GT(ring.part, 0.0);
    ASSERT_EQ(ring.nodes.size(), ring.routes.size());
    part[ring.job] += ring.part;
    value += ring.part * jobs[ring.job].gain(static_cast<std::int32_t>(ring.nodes.size()));
    for (std::size_t w = 0; w < ring.nodes.size(); ++w) {
      gpus[ring.nodes[w]] += ring.part;
      std::size_t at = ring.nodes[w];
      for (const std::size_t l : ring.routes[w]) {
        EXPECT_EQ(substrate.links[l].from, at);
        at = substrate.links[l].to;
        link[l] += ring.part * jobs[ring.job].job->bandwidth;
      }
      EXPECT_EQ(at, ring.nodes[(w + 1) % ring.nodes.size()]);
    }
  }
  for (std::size_t n = 0; n < gpus.size(); ++n) EXPECT_LE(gpus[n], substrate.gpus[n] + kRounding);
  for (std::size_t l = 0; l < link.size(); ++l)
    EXPECT_LE(link[l], substrate.links[l].bandwidth + kRounding);
  for (const double p : part) EXPECT_LE(p, 1.0 + kRounding);
  EXPECT_NEAR(value, relaxation.value, kRounding * (1.0 + value));
}

// No ring fits links of half its bandwidth. The program has half a ring over them, one way or a
// quarter each way, and a sixth with all three workers on the first server, which needs no link.
TEST(FlowProgram, PartsOfRingsOnATriangle) {
  const RingJob job = ring_of_three();
  const std::vector<SlotJob> jobs = {{&job, 0, 0}};
  const std::vector<std::int32_t> three = {3};
  const double whole = jobs[0].gain(3);
  const auto value = [&](double bandwidth, bool back, std::span<const std::int32_t> sizes) {
    const Substrate substrate = triangle(bandwidth, back);
    const FlowRelaxation relaxation = relax_flows(substrate, jobs, sizes);
    expect_rings(substrate, jobs, relaxation);
    EXPECT_GE(relaxation.bound, relaxation.value - 1e-6);
    EXPECT_LE(relaxation.bound, relaxation.value + 1e-4);
    return relaxation.value;
  };
  EXPECT_NEAR(value(1.0, false, {}), whole, 1e-5);
  EXPECT_NEAR(value(0.5, false, three), 2.0 / 3.0 * whole, 1e-5);
  EXPECT_NEAR(value(0.25, true, three), 2.0 / 3.0 * whole, 1e-5);
}

// On trees: flows >= whole rings in parts >= the best rings >= the greedy. Flows may have too many
// workers on a server in one ring and too few in another.
TEST(FlowProgram, IsAtOrAboveTheProgramOverRingsOnTrees) {
  double flows = 0.0, parts = 0.0, best = 0.0, greedy = 0.0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    const RingInstance instance = tiny_rings(
        seed, 3, 2 + seed % 2, 1, seed % 2 == 0 ? WorkUtility::sigmoid : WorkUtility::square_root);
    const auto jobs = slot_jobs(instance);
    const Substrate substrate = substrate_of(instance.cluster);
    const FlowRelaxation relaxation = relax_flows(substrate, jobs);
    const double rings = relax_slot(instance.cluster, jobs).value;
    const double optimum = exhaustive_slot(instance.cluster, jobs);
    EXPECT_GE(relaxation.bound, rings - 1e-4 * (1.0 + rings)) << seed;
    EXPECT_GE(relaxation.bound, optimum - 1e-9) << seed;
    EXPECT_LE(relaxation.bound, relaxation.value + 1e-4 * (1.0 + rings)) << seed;
    expect_rings(substrate, jobs, relaxation);
    flows += relaxation.value;
    parts += rings;
    best += optimum;
    greedy += slot_gain(jobs, slot_greedy(instance.cluster, jobs));
  }
  EXPECT_GT(parts, 1.001 * best);  // links are shared in parts somewhere
  EXPECT_LT(flows, 1.3 * best);
  EXPECT_GT(greedy, 0.9 * best);
}

TEST(FlowProgram, TheGreedyHasTheOptimumWhereLinksDoNotBind) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    RingInstance instance = tiny_rings(seed, 4, 2, 1, WorkUtility::square_root);
    instance.cluster.server_link.assign(4, 9.0);
    instance.cluster.rack_link.assign(2, 9.0);
    const auto jobs = slot_jobs(instance);
    const FlowRelaxation relaxation = relax_flows(substrate_of(instance.cluster), jobs);
    const double greedy = slot_gain(jobs, slot_greedy(instance.cluster, jobs));
    EXPECT_GE(greedy, 0.99 * relaxation.value) << seed;
    EXPECT_LE(greedy, relaxation.bound + 1e-9) << seed;
  }
}

/// Fourteen servers in five racks and the core: twenty nodes.
TEST(FlowProgram, TwentyNodes) {
  RingCluster cluster{
      .gpus = {}, .server_link = {}, .rack = {}, .rack_link = {2.0, 1.0, 1.0, 2.0, 1.0}};
  for (std::size_t s = 0; s < 14; ++s) {
    cluster.gpus.push_back(1);
    cluster.server_link.push_back(1.0);
    cluster.rack.push_back(s % 5);
  }
  const RingJob job{.most = 3, .budget = 9, .bandwidth = 1.5, .c1 = 10.0, .c2 = 2.0, .c3 = 1.5};
  const std::vector<SlotJob> jobs = {{&job, 0, 0}};
  const std::vector<std::int32_t> three = {3};
  const Substrate substrate = substrate_of(cluster);
  ASSERT_EQ(substrate.gpus.size(), kMostFlowNodes);
  const FlowRelaxation relaxation = relax_flows(substrate, jobs, three);
  const double rings = relax_slot(cluster, jobs, three).value;
  EXPECT_GE(relaxation.bound, rings - 1e-4);
  EXPECT_LE(relaxation.value, jobs[0].gain(3) + 1e-6);
  expect_rings(substrate, jobs, relaxation);
  cluster.gpus.push_back(1);
  cluster.server_link.push_back(1.0);
  cluster.rack.push_back(0);
  try {
    (void)relax_flows(substrate_of(cluster), jobs, three);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("20 nodes"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace berth::papers::gadget
