// SPDX-License-Identifier: Apache-2.0
// Limits of queues, racks and pods, by hand.
#include "tiny.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/certify/bound.hpp"
#include "berth/certify/check.hpp"
#include "berth/certify/figures.hpp"
#include "berth/certify/gap_parts.hpp"

namespace berth::certify {
namespace {

using model::Certificate;
using model::CommunicationPattern;
using model::LimitKind;
using model::Objective;

Certificate::LimitPrice of_queue(std::size_t queue, std::int64_t price) {
  return {LimitKind::gpu_quota, {.queue = QueueId(queue)}, price};
}
Certificate::LimitPrice of_rack(std::size_t rack, std::int64_t price) {
  return {LimitKind::uplink, {.rack = RackId(rack)}, price};
}
Certificate::LimitPrice of_pod(std::size_t pod, std::int64_t price) {
  return {LimitKind::uplink, {.pod = PodId(pod)}, price};
}

std::string faults(const test::Tiny& tiny, const model::RawPlan& plan) {
  std::string all;
  for (const Fault& f : check(tiny.instance, plan).faults) {
    if (f.kind == FaultKind::missing_entry) continue;
    all.append(all.empty() ? "" : "; ").append(name(f.kind)).append(": ").append(f.text);
  }
  return all;
}

/// Four machines of one GPU; j0, j1, j2 (one GPU, worth 5000 each): j0, j1 in "team", a child of
/// "org", j2 in "org".
class QuotaCase : public testing::Test {
 protected:
  QuotaCase() {
    const ClassId c = tiny.machine_class("c", tiny.type("A"), 1, 4000, 1000);
    tiny.pod(), tiny.rack();
    for (int m = 0; m < 4; ++m) tiny.machine(c);
    tiny.instance.cluster.queues = {{.name = "org", .gpu_quota = 2},
                                    {.name = "team", .gpu_quota = -1, .parent = QueueId(0)}};
    for (const int queue : {1, 1, 0}) {
      model::Job& job = tiny[tiny.job({{.gpus = 1}})];
      job.queue = QueueId(queue);
      job.value = 5000.0;
    }
  }
  model::Queue& org() { return tiny.instance.cluster.queues[0]; }
  model::Queue& team() { return tiny.instance.cluster.queues[1]; }
  double bound(std::int64_t on_org, std::int64_t on_team, Objective kind = Objective::value) {
    return upper_bound(tiny.instance, kind, prices(on_org, on_team), {}).value;
  }
  static Certificate prices(std::int64_t on_org, std::int64_t on_team) {
    Certificate c;
    if (on_org != 0) c.limits.push_back(of_queue(0, on_org));
    if (on_team != 0) c.limits.push_back(of_queue(1, on_team));
    return c;
  }
  std::string unusable_at(std::int64_t on_org, Objective kind = Objective::value) {
    return unusable(tiny.instance, kind, prices(on_org, 0));
  }
  static model::Placement first(int jobs) {
    model::Placement placed;
    for (int j = 0; j < jobs; ++j) placed.push_back({JobId(j), 0, {{MachineId(j), 0, 1, 1000}}});
    return placed;
  }
  static model::RawPlan raw(int jobs) {
    model::RawPlan plan;
    for (int j = 0; j < 3; ++j) {
      const std::string n = std::to_string(j);
      model::RawTask task{"task", "m" + n, {{0, 1000}}};
      if (j < jobs) plan.placements.push_back({"j" + n, 0, {task}});
      if (j >= jobs) plan.waiting.push_back({"j" + n, ""});
    }
    return plan;
  }
  test::Tiny tiny;
};

TEST_F(QuotaCase, bounds_what_the_queue_and_those_within_it_may_take) {
  EXPECT_EQ(bound(0, 0), 15000.0);
  EXPECT_EQ(bound(5, 0), 10000.0);
  EXPECT_EQ(bound(3, 0), 6000.0 + 3 * 2000);
  team().gpu_quota = 1;
  EXPECT_EQ(bound(3, 2), 6000.0 + 2000 + 2000) << "j0 and j1 pay for both";
  EXPECT_EQ(bound(0, 5), 5000.0 + 5000);
}

TEST_F(QuotaCase, counts_pinned_jobs_first) {
  tiny.pin(JobId(0), {{MachineId(0), 0, 1, 1000}});
  EXPECT_EQ(bound(5, 0), 5000.0);
  tiny[JobId(1)].queue = tiny[JobId(2)].queue = QueueId(0);
  org().gpu_quota = 0;
  EXPECT_EQ(bound(0, 0), 0.0) << "neither may be placed";
}

TEST_F(QuotaCase, leaves_out_jobs_that_alone_pass_it) {
  tiny[tiny.job({{.count = 3, .gpus = 1}})].queue = QueueId(1);
  EXPECT_EQ(bound(0, 0), 15000.0);
  tiny[JobId(3)].queue = QueueId();
  EXPECT_EQ(bound(0, 0), 15003.0);
  tiny[JobId(3)].queue = QueueId(1);
  org().over_quota_penalty = 1.0;
  EXPECT_EQ(bound(0, 0), 15003.0) << "a soft quota may be passed";
}

TEST_F(QuotaCase, may_be_passed_for_a_penalty) {
  org().over_quota_penalty = 3000.0;
  const auto worth = [&](int jobs, Objective kind) {
    return objective(tiny.instance, kind, first(jobs)).value;
  };
  EXPECT_EQ(worth(2, Objective::value), 10000.0);
  EXPECT_EQ(worth(3, Objective::value), 15000.0 - 3000.0);
  EXPECT_EQ(worth(3, Objective::allocate), 3000.0);
  EXPECT_EQ(bound(3, 0), 15000.0 - 3000.0);
  EXPECT_NE(unusable_at(4), "") << "no job pays more than the penalty";
  org().over_quota_penalty = 2999.9;
  EXPECT_NE(unusable_at(3), "");
  EXPECT_EQ(unusable_at(2), "");
  EXPECT_NE(unusable_at(1, Objective::allocate), "");
  EXPECT_EQ(bound(0, 0, Objective::allocate), 3000.0);
  EXPECT_EQ(faults(tiny, raw(3)), "");
}

TEST_F(QuotaCase, rounds_to_integers_only_when_penalties_are) {
  org().over_quota_penalty = 0.5;
  for (auto& job : tiny.instance.workload.jobs) job.value = 5.0;
  Certificate half;
  half.scale_log2 = 11;
  half.limits = {of_queue(0, 1)};  // 1000 / 2048 a GPU
  const auto at = [&] { return upper_bound(tiny.instance, Objective::value, half, {}).value; };
  EXPECT_EQ(at(), 15.0 - 1000.0 / 2048);
  org().over_quota_penalty = 1.0;
  EXPECT_EQ(at(), 14.0);
  tiny.instance.workload.shapes[0] = {.gpu_milli = 900};
  EXPECT_EQ(at(), 15.0 + 2000.0 / 2048 - 2700.0 / 2048) << "0.7 GPUs over";
}

TEST_F(QuotaCase, is_checked) {
  EXPECT_EQ(faults(tiny, raw(2)), "");
  EXPECT_EQ(faults(tiny, raw(3)),
            "quota_exceeded: queue org: jobs take 3000 of 2000 GPU thousandths beside the pinned "
            "ones");
  EXPECT_NE(unusable(tiny.instance, Objective::value, prices(0, 1)), "") << "team has no quota";
}

TEST_F(QuotaCase, takes_its_part_of_the_gap) {
  const Certificate c = prices(4, 0);
  const auto f = figures(tiny.instance, Objective::value, first(1), c);
  const auto parts = gap_parts(tiny.instance, Objective::value, first(1), c, f);
  EXPECT_EQ(f.upper_bound - f.objective, 8000.0 + 3000.0 - 5000.0);
  EXPECT_EQ(parts.limits[index_of(LimitKind::gpu_quota)], 4000.0);
  EXPECT_EQ(parts.regret[0].amount, 2000.0);
  EXPECT_EQ(parts.rounding, 0.0);
}

TEST_F(QuotaCase, charges_jobs_with_a_price_of_their_own) {
  Certificate c = prices(5, 0);
  for (int j = 0; j < 3; ++j) c.jobs.push_back({JobId(j), 0});
  EXPECT_EQ(upper_bound(tiny.instance, Objective::value, c, {}).machines, 0);
  c.limits[0].price = 4;
  EXPECT_EQ(upper_bound(tiny.instance, Objective::value, c, {}).machines, 3000);
}

/// Two pods of two racks of one machine of 4 GPUs; uplinks of 2 Gbit/s. j0: a ring of two tasks of
/// 3 GPUs at 1 Gbit/s: it crosses two racks.
class LinkCase : public testing::Test {
 protected:
  LinkCase() {
    const ClassId c = tiny.machine_class("c", tiny.type("A"), 4, 4000, 1000);
    for (int p = 0; p < 2; ++p) {
      tiny.pod(), tiny.rack(), tiny.machine(c), tiny.rack(), tiny.machine(c);
    }
    for (auto& rack : tiny.instance.cluster.racks) rack.uplink_gbps = 2.0;
    for (auto& pod : tiny.instance.cluster.pods) pod.uplink_gbps = 2.0;
    tiny[tiny.job({{.count = 2, .gpus = 3}})].value = 90000.0;
    talk(JobId(0), CommunicationPattern::ring);
  }
  void talk(JobId job, CommunicationPattern pattern) {
    tiny[job].communication = {.pattern = pattern, .servers = 0, .mbps = 1000};
  }
  /// What is left to j0 at these prices of the racks' uplinks and the pods'.
  std::int64_t left(std::initializer_list<std::int64_t> racks,
                    std::initializer_list<std::int64_t> pods = {}) {
    Certificate c;
    for (const std::int64_t price : racks) {
      c.limits.push_back(of_rack(c.limits.size(), price));
    }
    std::size_t p = 0;
    for (const std::int64_t price : pods) c.limits.push_back(of_pod(p++, price));
    const Bound b = upper_bound(tiny.instance, Objective::value, c, {});
    Int128 worth = 0;
    for (const auto& l : c.limits) worth += Int128{2000} * l.price;
    EXPECT_EQ(b.shared, worth);
    return static_cast<std::int64_t>(b.jobs);
  }
  test::Tiny tiny;
};

TEST_F(LinkCase, charges_a_ring_for_the_racks_and_pods_it_crosses) {
  EXPECT_EQ(left({1, 2, 9, 9}), 90000 - 3000);
  EXPECT_EQ(left({1, 9, 2, 9}), 90000 - 3000) << "over the pods";
  EXPECT_EQ(left({1, 8, 2, 9}, {4, 3}), 90000 - 9000) << "within pod-0";
  EXPECT_EQ(left({1, 99, 2, 99}, {4, 3}), 90000 - 3000 - 7000)
      << "over the pods, and pays for them";
  tiny[JobId(0)].domain = model::Level::pod;
  EXPECT_EQ(left({1, 99, 2, 90}), 0);
  tiny[JobId(0)].communication.pattern = CommunicationPattern::ps;
  EXPECT_EQ(left({1, 2, 9, 9}), 90000) << "not counted for parameter servers";
}

TEST_F(LinkCase, charges_nothing_within_a_rack) {
  tiny.instance.workload.shapes[0].gpus = 2;
  EXPECT_EQ(left({9, 9, 9, 9}, {9, 9}), 90000);
  tiny.instance.workload.groups[0].count = 3;
  EXPECT_EQ(left({9, 9, 9, 9}), 90000 - 3 * 9 * 500) << "2 of 3 tasks share an uplink";
}

TEST_F(LinkCase, leaves_out_links_that_cannot_carry_the_ring) {
  auto& racks = tiny.instance.cluster.racks;
  auto& pods = tiny.instance.cluster.pods;
  const auto best = [&] { return upper_bound(tiny.instance, Objective::value, {}, {}).value; };
  racks[0].uplink_gbps = racks[2].uplink_gbps = 0.999;
  EXPECT_EQ(best(), 90000.0) << "over the pods";
  pods[1].uplink_gbps = 0.5;
  EXPECT_EQ(best(), 0.0);
  racks[0].uplink_gbps = 1.0;
  EXPECT_EQ(best(), 90000.0) << "within pod-0";
  tiny.instance.workload.groups[0].count = 1;
  for (auto& rack : racks) rack.uplink_gbps = 0.0;
  EXPECT_EQ(best(), 90000.0);
}

TEST_F(LinkCase, refuses_prices_of_no_limit) {
  Certificate c;
  c.limits = {of_rack(0, 1)};
  EXPECT_EQ(unusable(tiny.instance, Objective::value, c), "");
  tiny.instance.cluster.racks[0].uplink_gbps = std::numeric_limits<double>::infinity();
  EXPECT_NE(unusable(tiny.instance, Objective::value, c), "");
  c.limits = {{LimitKind::uplink, {.pod = PodId(0), .rack = RackId(1)}, 1}};
  EXPECT_NE(unusable(tiny.instance, Objective::value, c), "");
  c.limits = {of_pod(0, -1)};
  EXPECT_NE(unusable(tiny.instance, Objective::value, c), "");
}

/// A ring over m0 and m1; with parameter servers 3 workers on m0 and one server on m1 and m2 each.
TEST_F(LinkCase, checks_what_links_carry) {
  model::RawPlan plan;
  const auto task = [](const char* label, int machine, std::int64_t device) {
    return model::RawTask{label, "m" + std::to_string(machine), {{device, 1000}}};
  };
  tiny.instance.workload.shapes[0] = {.gpus = 1};
  plan.placements = {{"j0", 0, {task("task", 0, 0), task("task", 1, 0)}}};
  EXPECT_EQ(faults(tiny, plan), "");
  tiny.instance.cluster.racks[1].uplink_gbps = 0.5;
  EXPECT_EQ(
      faults(tiny, plan),
      "limit_exceeded: uplink_gbps of rack rack-1: jobs use 1000 of 500 Mbit/s beside content "
      "that no plan moves");
  tiny.instance.cluster.racks[1].uplink_gbps = 2.0;
  const JobId ps = tiny.job(
      {{.count = 2, .gpus = 1, .label = "server"}, {.count = 3, .gpus = 1, .label = "worker"}});
  talk(ps, CommunicationPattern::ps);
  plan.placements.push_back({"j1",
                             0,
                             {task("server", 1, 1), task("server", 2, 1), task("worker", 0, 1),
                              task("worker", 0, 2), task("worker", 0, 3)}});
  // rack-0: 3 workers x 2 of 2 servers = 3000; rack-1 and rack-2: 3 x 1 of 2 = 1500;
  // pod-0: 3 workers to 1 of 2 servers = 1500, as pod-1
  EXPECT_EQ(
      faults(tiny, plan),
      "limit_exceeded: uplink_gbps of rack rack-0: jobs use 4000 of 2000 Mbit/s beside content "
      "that no plan moves; limit_exceeded: uplink_gbps of rack rack-1: jobs use 2500 of 2000 "
      "Mbit/s beside content that no plan moves");
  plan.placements.erase(plan.placements.begin());
  tiny.pin(JobId(0), {{MachineId(0), 0, 1, 1000}, {MachineId(1), 0, 1, 1000}});
  tiny.instance.cluster.pods[1].uplink_gbps = 1.499;
  EXPECT_EQ(
      faults(tiny, plan),
      "limit_exceeded: uplink_gbps of rack rack-0: jobs use 3000 of 1000 Mbit/s beside content "
      "that no plan moves; limit_exceeded: uplink_gbps of rack rack-1: jobs use 1500 of 1000 "
      "Mbit/s beside content that no plan moves; limit_exceeded: uplink_gbps of pod pod-1: "
      "jobs use 1500 of 1499 Mbit/s beside content that no plan moves");
}

TEST_F(LinkCase, charges_a_job_that_stays_for_its_links) {
  tiny.run(JobId(0), {{MachineId(0), 0, 7, 1000}, {MachineId(1), 0, 7, 1000}}).move_cost = 50000.0;
  EXPECT_EQ(left({10, 20, 0, 0}), 60000);
  EXPECT_EQ(left({30, 30, 0, 0}), 40000) << "moves";
}

/// Two racks of two machines of 2 GPUs in one pod. j0, j1, j2: one task of one GPU that draws 400
/// W, worth 5000 each.
class PowerCase : public testing::Test {
 protected:
  PowerCase() {
    const ClassId c = tiny.machine_class("c", tiny.type("A"), 2, 4000, 1000);
    tiny.pod(), tiny.rack(), tiny.machine(c), tiny.machine(c);
    tiny.rack(), tiny.machine(c), tiny.machine(c);
    for (int j = 0; j < 3; ++j) tiny[tiny.job({{.gpus = 1}})].value = 5000.0;
    tiny.instance.workload.shapes[0].needs[model::kPower] = 400;
  }
  model::Rack& rack(std::size_t r) { return tiny.instance.cluster.racks[r]; }
  model::Pod& pod() { return tiny.instance.cluster.pods[0]; }
  /// The first `jobs` jobs, on machines 0, 1, 2.
  static model::RawPlan on_machines(int jobs) {
    model::RawPlan plan;
    for (int j = 0; j < jobs; ++j) {
      model::RawTask task{.shape = "task", .machine = "m" + std::to_string(j), .gpus = {{0, 1000}}};
      task.needs[model::kPower] = 400;
      plan.placements.push_back({"j" + std::to_string(j), 0, {task}});
    }
    for (int j = jobs; j < 3; ++j) plan.waiting.push_back({"j" + std::to_string(j), "none"});
    return plan;
  }
  double bound(std::initializer_list<Certificate::LimitPrice> prices) {
    Certificate c;
    c.limits = prices;
    return upper_bound(tiny.instance, Objective::value, c, {}).value;
  }
  static Certificate::LimitPrice of(model::LimitScope scope, std::int64_t price) {
    return {LimitKind::power, scope, price};
  }
  test::Tiny tiny;
};

TEST_F(PowerCase, is_checked_by_rack_and_by_pod) {
  EXPECT_EQ(faults(tiny, on_machines(3)), "");
  rack(0).power_w = 800.0;
  pod().power_w = 1200.0;
  EXPECT_EQ(faults(tiny, on_machines(3)), "");
  rack(0).power_w = 799.0;
  EXPECT_EQ(faults(tiny, on_machines(3)),
            "limit_exceeded: power_w of rack rack-0: jobs use 800 of 799 W beside content that no "
            "plan moves");
  rack(0).power_w = 800.0;
  pod().power_w = 1199.0;
  EXPECT_EQ(faults(tiny, on_machines(3)),
            "limit_exceeded: power_w of pod pod-0: jobs use 1200 of 1199 W beside content that no "
            "plan moves");
}

TEST_F(PowerCase, counts_what_no_plan_moves_first) {
  rack(0).power_w = 800.0;
  tiny.instance.cluster.immovable = {{.machine = MachineId(1)}};
  tiny.instance.cluster.immovable[0].taken[model::kPower] = 1;
  EXPECT_EQ(faults(tiny, on_machines(2)),
            "limit_exceeded: power_w of rack rack-0: jobs use 800 of 799 W beside content that no "
            "plan moves");
  EXPECT_EQ(faults(tiny, on_machines(1)), "");
  rack(0).power_w = 0.5;  // less than the content: nothing is left
  EXPECT_EQ(faults(tiny, on_machines(0)), "");
  EXPECT_EQ(faults(tiny, on_machines(1)),
            "limit_exceeded: power_w of rack rack-0: jobs use 400 of 0 W beside content that no "
            "plan moves");
}

TEST_F(PowerCase, bounds_what_tasks_may_draw) {
  EXPECT_EQ(bound({}), 15000.0);
  pod().power_w = 800.0;
  EXPECT_EQ(bound({of({.pod = PodId(0)}, 10)}), 8000.0 + 3 * 1000.0);
  EXPECT_EQ(bound({of({.pod = PodId(0)}, 13)}), 800.0 * 13);
  rack(0).power_w = 0.0;
  EXPECT_EQ(bound({of({.rack = RackId(0)}, 99)}), 15000.0) << "rack-1 has no budget";
  rack(1).power_w = 400.0;
  const auto in_0 = of({.rack = RackId(0)}, 13), in_1 = of({.rack = RackId(1)}, 12);
  EXPECT_EQ(bound({in_0, in_1}), 400.0 * 12 + 3 * 200.0);
  EXPECT_EQ(bound({in_0, in_1, of({.pod = PodId(0)}, 1)}), 400.0 * 12 + 800.0) << "both";
}

/// Two tasks of 400 W: in one rack they are worth 9000, over two 6000.
TEST_F(PowerCase, bounds_gangs_by_the_racks_that_can_power_them) {
  const JobId gang = tiny.job({{.count = 2, .gpus = 2, .power_w = 400}});
  tiny[gang].value = 9000.0;
  tiny[gang].width_factor = tiny.factors({1.0, 1.0, 2.0 / 3.0, 0.5});
  for (int j = 0; j < 3; ++j) tiny[JobId(j)].value = 0.0;
  EXPECT_EQ(bound({}), 9000.0);
  rack(0).power_w = 799.0;
  EXPECT_EQ(bound({}), 9000.0) << "rack-1 can";
  rack(1).power_w = 400.0;
  EXPECT_EQ(bound({}), 6000.0);
  pod().power_w = 799.0;
  EXPECT_EQ(bound({}), 4500.0) << "over pods";
}

TEST(SharedPrices, are_read_by_name_and_digested) {
  test::Tiny tiny;
  tiny.pod(), tiny.rack();
  tiny.instance.cluster.queues = {{.name = "q", .gpu_quota = 1}};
  tiny.instance.cluster.racks[0].uplink_gbps = tiny.instance.cluster.pods[0].uplink_gbps = 1.0;
  using Raw = model::RawCertificate;
  using Price = model::RawLimitPrice;
  const auto read = [&](std::vector<Price> limits) {
    Raw c;
    c.level = "pod";
    c.limits = std::move(limits);
    model::RawPlan plan;
    plan.certificate = c;
    return faults(tiny, plan);
  };
  const auto quota = [](std::string queue, std::int64_t price) {
    return Price{.limit = "gpu_quota", .queue = std::move(queue), .price = price};
  };
  const auto pod_uplink = [](std::string name, std::int64_t price) {
    return Price{.limit = "uplink_gbps", .pod = std::move(name), .price = price};
  };
  const auto rack_uplink = [](std::string name, std::int64_t price) {
    return Price{.limit = "uplink_gbps", .rack = std::move(name), .price = price};
  };
  EXPECT_EQ(read({quota("q", 1), pod_uplink("pod-0", 1), rack_uplink("rack-0", 2)}), "");
  EXPECT_THAT(read({quota("r", 1)}), testing::HasSubstr("queue r is not in the input"));
  EXPECT_THAT(read({quota("q", -1)}), testing::HasSubstr("negative_price"));
  EXPECT_THAT(read({quota("q", 1), quota("q", 1)}), testing::HasSubstr("listed twice"));
  EXPECT_THAT(read({pod_uplink("pod-1", 1)}), testing::HasSubstr("pod pod-1"));
  EXPECT_THAT(read({rack_uplink("rack-1", 1)}), testing::HasSubstr("rack rack-1"));
  EXPECT_THAT(read({pod_uplink("pod-0", -1)}), testing::HasSubstr("negative_price"));
  EXPECT_THAT(read({pod_uplink("pod-0", 1), pod_uplink("pod-0", 1)}),
              testing::HasSubstr("listed twice"));
  EXPECT_THAT(read({Price{.limit = "gpus", .queue = "q", .price = 1}}),
              testing::HasSubstr("no limit is called gpus"));
  EXPECT_THAT(read({Price{.limit = "uplink_gbps", .pod = "pod-0", .rack = "rack-0", .price = 1}}),
              testing::HasSubstr("bad_certificate"));
  EXPECT_THAT(read({Price{.limit = "uplink_gbps", .queue = "q", .price = 1}}),
              testing::HasSubstr("does not exist"));
  Certificate c;
  const auto digest = [&] { return proof_digest(tiny.instance, 1.0, 2.0, c); };
  const std::string none = digest();
  c.limits = {of_queue(0, 1)};
  const std::string queue = digest();
  c.limits = {of_pod(0, 1)};
  const std::string pod = digest();
  c.limits = {of_rack(0, 1)};
  EXPECT_THAT((std::vector{none, queue, pod}), testing::Not(testing::Contains(digest())));
  EXPECT_NE(none, queue);
  EXPECT_NE(queue, pod);
}

}  // namespace
}  // namespace berth::certify
