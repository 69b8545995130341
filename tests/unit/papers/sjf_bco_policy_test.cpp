// SPDX-License-Identifier: Apache-2.0
// SJF-BCO in a simulation: rings that arrive, wait and share links.
#include "tiny.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/error.hpp"
#include "berth/papers/paper_policies.hpp"
#include "berth/sim/simulate.hpp"
#include "berth/sim/world_speeds.hpp"

namespace berth::papers {
namespace {

struct Ring {
  std::int32_t gpus = 1;
  std::int64_t duration = 100;  ///< seconds on one machine
  std::int64_t arrival = 0;
};

/// Machines of four GPUs and rings that take twice as long across two machines as on one.
struct RingCluster {
  explicit RingCluster(const std::vector<Ring>& rings, int machines = 2) {
    const ClassId of = tiny.machine_class("m", tiny.type("X"), 4, 0, 0);
    tiny.pod();
    tiny.rack();
    for (int m = 0; m < machines; ++m) tiny.machine(of);
    tiny.instance.workload.configurations.emplace_back();
    for (const Ring& ring : rings) add(ring);
    profiles.jobs.assign(rings.size(), {.kind = speed::ProfileKind::ring});
    profiles.links = {.internal_gbps = 1e9, .external_gbps = 1.0, .degradation = 0.0};
  }

  void add(const Ring& ring) {
    const JobId id = tiny.job({{.count = ring.gpus, .gpus = 1}});
    auto& workload = tiny.instance.workload;
    model::TimeRules rules;
    rules.duration = ring.duration;
    tiny[id].time = static_cast<std::uint32_t>(workload.time_rules.size());
    tiny[id].arrival = ring.arrival;
    workload.time_rules.push_back(rules);
    const double steps = 2.0 * (ring.gpus - 1.0) / ring.gpus;
    profiles.rings.push_back({.gradient_gbit = steps > 0.0 ? 1.0 / steps : 0.0,
                              .backward = 1.0,
                              .batch = 1.0,
                              .reduce_gbps = 1e9,
                              .reference = static_cast<double>(ring.gpus)});
  }

  sim::Run run() {
    const auto policy = find_paper_policy("sjf-bco")->make({tiny.instance, profiles, 1});
    const sim::WorldSpeeds speeds(tiny.instance, profiles, 0.0);
    const sim::Trace trace = sim::make_trace(tiny.instance, {}, &speeds);
    const sim::World of{.speeds = &speeds};
    return sim::simulate(tiny.instance.cluster, trace, *policy, {}, of);
  }

  test::Tiny tiny;
  speed::Profiles profiles;
};

double seconds(sim::Micros time) { return static_cast<double>(time) / sim::kSecond; }

TEST(SjfBcoPolicy, RingsStayOnOneMachine) {
  RingCluster cluster({{.gpus = 1}, {.gpus = 3}, {.gpus = 4}});
  const sim::Run run = cluster.run();
  for (const auto& record : run.records) {
    EXPECT_EQ(record.runs.size(), 1U);
    EXPECT_NEAR(seconds(record.end()), 100.0, 0.1);
  }
}

TEST(SjfBcoPolicy, ARingThatFitsNoMachineIsSplitAndSlow) {
  RingCluster cluster(std::vector{Ring{.gpus = 6}});
  EXPECT_NEAR(seconds(cluster.run().records[0].end()), 200.0, 0.1);
}

TEST(SjfBcoPolicy, ThoseThatShareLinksSlowEachOther) {
  // Both need two of the three machines, so they share one.
  RingCluster cluster({{.gpus = 6}, {.gpus = 6}}, 3);
  for (const auto& record : cluster.run().records) EXPECT_GT(seconds(record.end()), 250.0);
}

TEST(SjfBcoPolicy, SmallJobsFirstAndNoPreemption) {
  RingCluster cluster({{.gpus = 8}, {.gpus = 8, .arrival = 10}, {.gpus = 2, .arrival = 20}});
  const sim::Run run = cluster.run();
  EXPECT_LT(run.records[2].end(), run.records[1].end());
  EXPECT_GE(seconds(run.records[2].runs[0].start), 199.0);  // after the first job
  for (const auto& record : run.records) EXPECT_EQ(record.runs.size(), 1U);
}

TEST(SjfBcoPolicy, ManyJobsAllEnd) {
  std::vector<Ring> rings;
  for (int j = 0; j < 40; ++j)
    rings.push_back({.gpus = 1 + j * 7 % 8, .duration = 20 + j * 13 % 90, .arrival = j * 5});
  RingCluster cluster(rings, 3);
  for (const auto& record : cluster.run().records) EXPECT_GT(record.end(), record.arrival);
}

TEST(SjfBcoPolicy, JobsThatAreNoRingsAreNamed) {
  RingCluster cluster({{.gpus = 1}, {.gpus = 2}, {.gpus = 3}});
  cluster.profiles.jobs[0].kind = speed::ProfileKind::none;
  cluster.profiles.jobs[2].kind = speed::ProfileKind::none;
  try {
    (void)cluster.run();
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_NE(error.problem().find("j0, j2"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace berth::papers
