// SPDX-License-Identifier: Apache-2.0
// Plans of a cluster at work. One rack: m0, m1, m2 (2 GPUs, 4 cores, 1000 MiB each); m1 is drained,
// half of m0's first device and one core are used. j0 (a share of 500 and 3 cores) waits, j1 (one
// GPU) is pinned on m2.
#include "tiny.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/certify/check.hpp"

namespace berth::certify {
namespace {

class LiveCheck : public testing::Test {
 protected:
  LiveCheck() {
    const ClassId c = tiny.machine_class("c", tiny.type("A"), 2, 4000, 1000);
    tiny.pod(), tiny.rack(), tiny.machine(c), tiny.machine(c), tiny.machine(c);
    tiny.state(MachineId(1), model::MachineState::drained);
    tiny.use({.machine = MachineId(0), .devices = 1, .milli = 500, .taken = {1000}});
    tiny.job({{.gpu_milli = 500, .cpu_milli = 3000}});
    tiny.pin(tiny.job({{.gpus = 1, .memory_mib = 600}}), {{MachineId(2), 0, 1, 1000}});
  }

  /// Faults of a plan with j0 there, as names and texts; figures and digests are not stated.
  std::string faults(const std::string& machine, std::int64_t device) {
    plan.placements = {{"j0", 0, {{"task", machine, {{device, 500}}, {3000}}}}};
    std::string all;
    for (const Fault& f : check(tiny.instance, plan).faults) {
      if (f.kind == FaultKind::missing_entry) continue;
      all.append(all.empty() ? "" : "; ").append(name(f.kind)).append(": ").append(f.text);
    }
    return all;
  }

  test::Tiny tiny;
  model::RawPlan plan;
};

TEST_F(LiveCheck, accepts_what_lies_beside_immovable_content) {
  EXPECT_EQ(faults("m0", 0), "");
  EXPECT_EQ(faults("m0", 1), "");
  EXPECT_EQ(faults("m2", 1), "");
}

TEST_F(LiveCheck, refuses_machines_where_nothing_may_start) {
  EXPECT_EQ(faults("m1", 0), "machine_not_up: job j0: machine m1 is drained");
  tiny.state(MachineId(1), model::MachineState::reserved);
  EXPECT_EQ(faults("m1", 0), "machine_not_up: job j0: machine m1 is reserved");
  tiny.state(MachineId(1), model::MachineState::drain);
  EXPECT_EQ(faults("m1", 0), "machine_not_up: job j0: machine m1 is being evacuated (drain)");
}

TEST_F(LiveCheck, counts_immovable_content_as_load) {
  EXPECT_THAT(faults("m2", 0), testing::HasSubstr("device_oversubscribed: machine m2: device 0"));
  tiny.instance.cluster.immovable[0].milli = 501;
  EXPECT_THAT(faults("m0", 0), testing::HasSubstr("device 0 holds 1001 of 1000"));
  tiny.instance.cluster.immovable[0].taken[model::kCpu] = 1001;
  EXPECT_THAT(faults("m0", 1), testing::HasSubstr("tasks take 4001 of 4000 CPU"));
  tiny.instance.cluster.immovable[0].taken[model::kMemory] = 1001;
  EXPECT_THAT(faults("m0", 1), testing::HasSubstr("tasks take 1001 of 1000 MiB"));
}

TEST_F(LiveCheck, refuses_pinned_jobs_in_the_plan) {
  plan.waiting = {{"j1", "why not"}};
  EXPECT_THAT(faults("m0", 0), testing::StartsWith("pinned_job: job j1"));
  plan.waiting.clear();
  faults("m0", 0);
  plan.placements.push_back({"j1", 0, {{"task", "m2", {{0, 1000}}, {0, 600}}}});
  bool found = false;
  const CheckResult v = check(tiny.instance, plan);
  for (const Fault& f : v.faults) found = found || f.kind == FaultKind::pinned_job;
  EXPECT_TRUE(found);
  EXPECT_EQ(v.figures.jobs_total, 2);
  EXPECT_EQ(v.figures.jobs_placed, 1);
  EXPECT_EQ(v.figures.gpu_milli_allocated, 500);
}

}  // namespace
}  // namespace berth::certify
