// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/limits.hpp"

#include <string>

#include <gtest/gtest.h>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"

namespace berth::coordinator {
namespace {

using model::Instance;
using model::JobPlacement;
using model::Links;
using model::Objective;
using model::Placement;
using model::Quotas;
using model::TaskPlacement;
using model::UplinkGroups;

Instance read(const std::string& queues, const std::string& jobs) {
  Instance instance;
  instance.cluster = io::parse_cluster(
      "schema: 1\n"
      "classes: {a: {gpu_type: A, gpus: 4}}\n"
      "pods:\n"
      "  - id: p\n"
      "    uplink_gbps: 5\n"
      "    racks:\n"
      "      - {id: r0, uplink_gbps: 10, machines: [{ids: \"m[0-1]\", class: a}]}\n"
      "      - {id: r1, uplink_gbps: 10, machines: [{ids: \"m[2-3]\", class: a}]}\n"
      "  - {id: q, racks: [{id: r2, machines: [{ids: m4, class: a}]}]}\n" +
          queues,
      "c.yaml");
  instance.workload = io::parse_jobs(jobs, "j.jsonl", instance.cluster);
  return instance;
}

/// The job's tasks on whole machines, one each.
JobPlacement on(JobId job, std::initializer_list<std::size_t> machines, std::uint32_t group = 0) {
  JobPlacement placed{.job = job};
  for (const std::size_t m : machines) {
    placed.tasks.push_back({MachineId(m), group, 0xF, 1000});
  }
  return placed;
}

std::string gang(const std::string& id, const std::string& more) {
  return R"({"id":")" + id + R"(","tasks":[{"count":2,"gpus":4}])" + more + "}\n";
}

TEST(Links, a_ring_loads_every_uplink_it_crosses_once) {
  const Instance instance = read("", R"({"id":"j","tasks":[{"count":3,"gpus":4}],)"
                                     R"("communication":{"pattern":"ring","gbps":2}})");
  const Links links(instance);
  ASSERT_FALSE(links.idle());
  EXPECT_TRUE(links.load(JobId(0), on(JobId(0), {0, 1}).tasks).empty());
  const auto two_racks = links.load(JobId(0), on(JobId(0), {0, 1, 2}).tasks);
  ASSERT_EQ(two_racks.size(), 2U);
  EXPECT_EQ(two_racks[0].link, 0U);
  EXPECT_EQ(two_racks[0].mbps, 2000);
  const auto two_pods = links.load(JobId(0), on(JobId(0), {0, 2, 4}).tasks);
  ASSERT_EQ(two_pods.size(), 5U);  // three racks, two pods
  EXPECT_EQ(two_pods[4].link, 4U);
  EXPECT_EQ(links.mbps(3), 5000);
  EXPECT_EQ(links.mbps(4), Links::kNoLimit);
}

TEST(Links, workers_and_servers_load_what_crosses) {
  const Instance instance =
      read("", R"({"id":"j","tasks":[{"shape":"w","count":3,"gpus":1},{"shape":"s","count":2}],)"
               R"("communication":{"pattern":"ps","gbps":1.001,"servers":"s"}})");
  const Links links(instance);
  // rack 0: two workers, one server; rack 1: one worker, one server
  const std::vector<TaskPlacement> tasks{{MachineId(0), 0, 1, 1000},
                                         {MachineId(1), 0, 1, 1000},
                                         {MachineId(2), 0, 1, 1000},
                                         {MachineId(0), 1, 0, 0},
                                         {MachineId(2), 1, 0, 0}};
  const auto loads = links.load(JobId(0), tasks);
  ASSERT_EQ(loads.size(), 2U);
  EXPECT_EQ(loads[0].mbps, (1001 * (2 * 1 + 1 * 1) + 1) / 2);
  EXPECT_EQ(loads[1].mbps, loads[0].mbps);
}

TEST(UplinkGroups, a_ring_pays_by_the_tasks_one_rack_can_hold) {
  const Instance instance = read("", R"({"id":"j","tasks":[{"count":3,"gpus":4}],)"
                                     R"("communication":{"pattern":"ring","gbps":2}})"
                                     "\n" +
                                         gang("quiet", ""));
  const Links links(instance);
  const GpuTypeId a(0);
  // Rack r2 and pod q have no limit, and machines of the only type: rings may go round by them.
  EXPECT_TRUE(UplinkGroups(instance, links).empty());
  Instance limited = instance;
  limited.cluster.racks[2].uplink_gbps = 20.0;
  limited.cluster.pods[1].uplink_gbps = 7.0;
  const Links all(limited);
  const UplinkGroups groups(limited, all);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups.groups()[0].links, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(groups.groups()[0].mbps, 40000.0);
  EXPECT_EQ(groups.groups()[1].links, (std::vector<std::uint32_t>{3, 4}));
  const auto across_racks = groups.tolls(JobId(0), a, model::Level::pod);
  EXPECT_EQ(across_racks[0], (UplinkGroups::Toll{0, 2000.0 * 3 / 2}));  // two tasks fit in a rack
  EXPECT_EQ(across_racks[1], UplinkGroups::Toll{});
  const auto across_pods = groups.tolls(JobId(0), a, model::Level::cluster);
  EXPECT_EQ(across_pods[1], (UplinkGroups::Toll{1, 2000.0 * 3 / 2}));  // all but one of three
  EXPECT_EQ(groups.tolls(JobId(0), a, model::Level::rack), UplinkGroups::Tolls{});
  EXPECT_EQ(groups.tolls(JobId(1), a, model::Level::cluster), UplinkGroups::Tolls{});

  const model::Valuation priced(limited, Objective::value,
                                {.queues = {}, .uplinks = &groups, .links = {0.001, 0.01}});
  EXPECT_DOUBLE_EQ(priced.placed(on(JobId(0), {0, 1, 2})), 12.0 - 3.0);
  EXPECT_DOUBLE_EQ(priced.placed(on(JobId(0), {0, 2, 4})), 12.0 - 3.0 - 30.0);
  EXPECT_DOUBLE_EQ(priced.face(on(JobId(0), {0, 2, 4})), 12.0);
}

TEST(Quotas, count_for_ancestors_and_pinned_jobs_use_them_up) {
  const Instance instance = read(
      "queues: [{id: org, gpu_quota: 12}, {id: a, parent: org, gpu_quota: 8, "
      "over_quota_penalty: 1}, {id: b, parent: a}]\n",
      R"({"id":"j","queue":"b","tasks":[{"gpus":3}],"running":{"pinned":true,"tasks":[)"
      R"({"machine":"m0","gpus":[{"index":0},{"index":1},{"index":2}]}]}})");
  const Quotas value(instance, Objective::value);
  ASSERT_EQ(value.limits().size(), 2U);
  EXPECT_EQ(value.limits()[0].milli, 9000);
  EXPECT_EQ(value.limits()[1].milli, 5000);
  const auto chain = value.of(QueueId(2));
  EXPECT_EQ(std::vector(chain.begin(), chain.end()), (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(value.by_queue(std::vector{0.5, 0.25}), (std::vector{0.5, 0.75, 0.75}));
  EXPECT_EQ(Quotas(instance, Objective::allocate).limits().size(), 1U);
}

class Obey : public testing::Test {
 protected:
  static Placement obey(const Instance& instance, Placement placement) {
    const model::Valuation valuation(instance, Objective::value);
    const auto pools = model::make_pools(instance.cluster, model::Level::rack);
    return obey_limits(valuation, pools, Quotas(instance, Objective::value), Links(instance),
                       std::move(placement), {});
  }
  static std::vector<JobId> jobs(const Placement& placement) {
    std::vector<JobId> ids;
    for (const JobPlacement& p : placement) ids.push_back(p.job);
    return ids;
  }
};

TEST_F(Obey, the_least_valuable_goes_and_the_next_one_allowed_comes) {
  const std::string a = R"(,"queue":"a","weight":)";
  const Instance instance = read("queues: [{id: a, gpu_quota: 8}]\n",
                                 gang("x", a + "2") + gang("y", a + "3") + gang("z", ""));
  const Placement kept = obey(instance, {on(JobId(0), {0, 1}), on(JobId(1), {2, 3})});
  EXPECT_EQ(jobs(kept), (std::vector{JobId(1), JobId(2)}));
  EXPECT_EQ(kept[0].tasks[0].machine, MachineId(2));  // who may stay is not moved
}

TEST_F(Obey, a_soft_quota_is_passed_by_jobs_worth_the_penalty) {
  const std::string a = R"(,"queue":"a","weight":)";
  const auto instance = [&](const char* penalty) {
    return read(
        std::string("queues: [{id: a, gpu_quota: 8, over_quota_penalty: ") + penalty + "}]\n",
        gang("x", a + "2") + gang("y", a + "3"));
  };
  const Placement both{on(JobId(0), {0, 1}), on(JobId(1), {2, 3})};
  EXPECT_EQ(obey(instance("1.9"), both).size(), 2U);
  EXPECT_EQ(jobs(obey(instance("2.1"), both)), std::vector{JobId(1)});
}

TEST_F(Obey, an_uplink_carries_no_more_than_it_can) {
  const std::string ring = R"(,"communication":{"pattern":"ring","gbps":6},"weight":)";
  const Instance instance = read("", gang("x", ring + "2") + gang("y", ring + "3"));
  const Placement kept = obey(instance, {on(JobId(0), {0, 2}), on(JobId(1), {1, 3})});
  // x lost the uplinks; its rack's two machines are not free, so it waits
  EXPECT_EQ(jobs(kept), std::vector{JobId(1)});
}

TEST_F(Obey, nothing_changes_without_limits) {
  const Instance instance = read("queues: [{id: a}]\n", gang("x", R"(,"queue":"a")"));
  EXPECT_TRUE(obey(instance, {}).empty());
}

}  // namespace
}  // namespace berth::coordinator
