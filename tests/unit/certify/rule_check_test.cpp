// SPDX-License-Identifier: Apache-2.0
// The judge's view of rules about machines. Two racks of two machines with 4 GPUs: m0 .. m3.
#include "rule_check.hpp"

#include "tiny.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace berth::certify {
namespace {

constexpr std::int32_t kAny = model::PlacementRules::kAnyNumber;

class RuleCheckTest : public testing::Test {
 protected:
  RuleCheckTest() {
    const ClassId c = tiny.machine_class("c", tiny.type("A"), 4, 64000, 1000);
    for (int rack = 0; rack < 2; ++rack) {
      tiny.pod(), tiny.rack();
      for (int m = 0; m < 2; ++m) tiny.machine(c);
    }
  }
  JobId job(std::int32_t tasks, const model::PlacementRules& rules = {}) {
    const JobId job = tiny.job({{.count = tasks, .gpus = 1}});
    tiny.rule(job, rules);
    return job;
  }
  /// A task of the job on each of these machines.
  static model::JobPlacement on(JobId job, const std::vector<int>& machines) {
    model::JobPlacement placed{.job = job};
    for (const int m : machines) placed.tasks.push_back({MachineId(m), 0, 1, 1000});
    return placed;
  }
  std::vector<FaultKind> faults(const model::Placement& placement) const {
    CheckResult checked;
    Findings findings(checked);
    RuleCheck check(tiny.instance);
    for (const model::JobPlacement& placed : placement) check.add(placed, findings);
    check.report(findings);
    std::vector<FaultKind> kinds;
    for (const Fault& fault : checked.faults) kinds.push_back(fault.kind);
    return kinds;
  }

  test::Tiny tiny;
  using Kinds = std::vector<FaultKind>;
};

TEST_F(RuleCheckTest, counts_tasks_by_machine_rack_and_pod) {
  const JobId by_machine = job(2, {.max_tasks = {1, kAny, kAny}});
  const JobId by_rack = job(2, {.max_tasks = {kAny, 1, kAny}});
  const JobId by_pod = job(2, {.max_tasks = {kAny, kAny, 1}});
  EXPECT_EQ(faults({on(by_machine, {0, 0})}), Kinds{FaultKind::too_many_together});
  EXPECT_EQ(faults({on(by_machine, {0, 1})}), Kinds{});
  EXPECT_EQ(faults({on(by_rack, {0, 1})}), Kinds{FaultKind::too_many_together});
  EXPECT_EQ(faults({on(by_rack, {0, 2})}), Kinds{});
  EXPECT_EQ(faults({on(by_pod, {2, 3})}), Kinds{FaultKind::too_many_together});
  EXPECT_EQ(faults({on(by_pod, {1, 2})}), Kinds{});
}

TEST_F(RuleCheckTest, counts_domains) {
  const JobId machines = job(3, {.min_domains = {3, 1, 1}});
  const JobId racks = job(3, {.min_domains = {1, 2, 1}});
  EXPECT_EQ(faults({on(machines, {0, 1, 1})}), Kinds{FaultKind::too_few_domains});
  EXPECT_EQ(faults({on(machines, {0, 1, 2})}), Kinds{});
  EXPECT_EQ(faults({on(racks, {0, 1, 1})}), Kinds{FaultKind::too_few_domains});
  EXPECT_EQ(faults({on(racks, {0, 1, 3})}), Kinds{});
}

TEST_F(RuleCheckTest, counts_licenses_beside_pinned_jobs) {
  tiny.instance.cluster.licenses = {{.name = "l", .count = 5}};
  const JobId pinned = job(1, {.licenses = {{0, 2}}});
  const JobId two = job(2, {.licenses = {{0, 2}}});
  const JobId one = job(1, {.licenses = {{0, 1}}});
  const JobId more = job(1, {.licenses = {{0, 1}}});
  tiny.pin(pinned, {{MachineId(0), 0, 1, 1000}});
  EXPECT_EQ(faults({on(two, {0, 1}), on(one, {2})}), Kinds{});
  EXPECT_EQ(faults({on(two, {0, 1}), on(one, {2}), on(more, {2})}),
            Kinds{FaultKind::limit_exceeded});
}

TEST_F(RuleCheckTest, exclusive_jobs_are_alone) {
  const JobId alone = job(2, {.exclusive = true});
  const JobId plain = job(1);
  const JobId other = job(1, {.exclusive = true});
  EXPECT_EQ(faults({on(alone, {0, 0}), on(plain, {1})}), Kinds{});
  EXPECT_EQ(faults({on(alone, {0, 1}), on(plain, {1})}), Kinds{FaultKind::kept_apart});
  EXPECT_EQ(faults({on(plain, {1}), on(alone, {0, 1})}), Kinds{FaultKind::kept_apart});
  EXPECT_EQ(faults({on(alone, {0, 1}), on(other, {1})}),
            (Kinds{FaultKind::kept_apart, FaultKind::kept_apart}));
}

TEST_F(RuleCheckTest, labels_keep_jobs_apart_in_both_directions) {
  const JobId labelled = job(1, {.labels = {"w", "x"}});
  const JobId avoids = job(1, {.not_with = {"x", "z"}});
  const JobId plain = job(1, {.labels = {"y"}});
  EXPECT_EQ(faults({on(labelled, {0}), on(avoids, {0})}), Kinds{FaultKind::kept_apart});
  EXPECT_EQ(faults({on(avoids, {0}), on(labelled, {0})}), Kinds{FaultKind::kept_apart});
  EXPECT_EQ(faults({on(labelled, {0}), on(avoids, {1}), on(plain, {1})}), Kinds{});
}

TEST_F(RuleCheckTest, pinned_jobs_count_as_others_but_not_among_themselves) {
  const JobId pinned = job(1, {.labels = {"x"}});
  tiny.pin(pinned, {{MachineId(0), 0, 1, 1000}});
  const JobId too = job(1, {.exclusive = true});
  tiny.pin(too, {{MachineId(0), 0, 2, 1000}});
  const JobId alone = job(1, {.exclusive = true});
  EXPECT_EQ(faults({on(alone, {1})}), Kinds{});
  EXPECT_EQ(faults({on(alone, {0})}).front(), FaultKind::kept_apart);
}

}  // namespace
}  // namespace berth::certify
