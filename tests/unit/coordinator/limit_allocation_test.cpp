// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/limit_allocation.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/solver/shard_bidding.hpp"
#include "berth/solver/shard_limits.hpp"
#include "berth/solver/shard_planning.hpp"

namespace berth::coordinator {
namespace {

using model::Instance;
using model::JobPlacement;
using model::LimitKind;
using model::Objective;
using model::Placement;
using model::TaskPlacement;
using planner_model::CouplingLimits;
using planner_model::LimitGroups;

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

TEST(CouplingLimits, a_ring_loads_every_uplink_it_crosses_once) {
  const Instance instance = read("", R"({"id":"j","tasks":[{"count":3,"gpus":4}],)"
                                     R"("communication":{"pattern":"ring","gbps":2}})");
  const CouplingLimits limits(instance, Objective::value);
  ASSERT_TRUE(limits.has(LimitKind::uplink));
  EXPECT_TRUE(limits.use_of_places(JobId(0), on(JobId(0), {0, 1}).tasks).empty());
  const auto two_racks = limits.use_of_places(JobId(0), on(JobId(0), {0, 1, 2}).tasks);
  ASSERT_EQ(two_racks.size(), 2U);
  EXPECT_EQ(two_racks[0], planner_model::LimitAmount(0, 2000));
  const auto two_pods = limits.use_of_places(JobId(0), on(JobId(0), {0, 2, 4}).tasks);
  ASSERT_EQ(two_pods.size(), 5U);  // three racks, two pods
  EXPECT_EQ(two_pods[4].first, 4U);
  EXPECT_EQ(limits.capacity(3), 5000);
  EXPECT_EQ(limits.capacity(4), model::kNoLimit);
  EXPECT_EQ(limits[4].scope, (model::LimitScope{.pod = PodId(1)}));
}

TEST(CouplingLimits, workers_and_servers_load_what_crosses) {
  const Instance instance =
      read("", R"({"id":"j","tasks":[{"shape":"w","count":3,"gpus":1},{"shape":"s","count":2}],)"
               R"("communication":{"pattern":"ps","gbps":1.001,"servers":"s"}})");
  const CouplingLimits limits(instance, Objective::value);
  // rack 0: two workers, one server; rack 1: one worker, one server
  const std::vector<TaskPlacement> tasks{{MachineId(0), 0, 1, 1000},
                                         {MachineId(1), 0, 1, 1000},
                                         {MachineId(2), 0, 1, 1000},
                                         {MachineId(0), 1, 0, 0},
                                         {MachineId(2), 1, 0, 0}};
  const auto loads = limits.use_of_places(JobId(0), tasks);
  ASSERT_EQ(loads.size(), 2U);
  EXPECT_EQ(loads[0].second, (1001 * (2 * 1 + 1 * 1) + 1) / 2);
  EXPECT_EQ(loads[1].second, loads[0].second);
}

TEST(LimitGroups, a_ring_pays_by_the_tasks_one_rack_can_hold) {
  const Instance instance = read("", R"({"id":"j","tasks":[{"count":3,"gpus":4}],)"
                                     R"("communication":{"pattern":"ring","gbps":2}})"
                                     "\n" +
                                         gang("quiet", ""));
  const CouplingLimits limits(instance, Objective::value);
  const GpuTypeId a(0);
  // Rack r2 and pod q have no limit, and machines of the only type: rings may go round by them.
  EXPECT_TRUE(LimitGroups(instance, limits).empty());
  Instance limited = instance;
  limited.cluster.racks[2].uplink_gbps = 20.0;
  limited.cluster.pods[1].uplink_gbps = 7.0;
  const CouplingLimits all(limited, Objective::value);
  const LimitGroups groups(limited, all);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups.groups()[0].limits, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(groups.groups()[0].capacity, 40000.0);
  EXPECT_EQ(groups.groups()[1].limits, (std::vector<std::size_t>{3, 4}));
  const auto across_racks = groups.group_loads(JobId(0), a, model::Level::pod);
  EXPECT_EQ(across_racks[0],
            (LimitGroups::GroupLoad{0, 2000.0 * 3 / 2}));  // two tasks fit in a rack
  EXPECT_EQ(across_racks[1], LimitGroups::GroupLoad{});
  const auto across_pods = groups.group_loads(JobId(0), a, model::Level::cluster);
  EXPECT_EQ(across_pods[1], (LimitGroups::GroupLoad{1, 2000.0 * 3 / 2}));  // all but one of three
  EXPECT_EQ(groups.group_loads(JobId(0), a, model::Level::rack), LimitGroups::GroupLoads{});
  EXPECT_EQ(groups.group_loads(JobId(1), a, model::Level::cluster), LimitGroups::GroupLoads{});

  const planner_model::Valuation priced(limited, Objective::value,
                                        {groups, std::vector{0.001, 0.01}});
  EXPECT_DOUBLE_EQ(priced.placed(on(JobId(0), {0, 1, 2})), 12.0 - 3.0);
  EXPECT_DOUBLE_EQ(priced.placed(on(JobId(0), {0, 2, 4})), 12.0 - 3.0 - 30.0);
  EXPECT_DOUBLE_EQ(priced.unpriced_value(on(JobId(0), {0, 2, 4})), 12.0);
}

TEST(CouplingLimits, count_for_ancestors_and_pinned_jobs_use_them_up) {
  const Instance instance = read(
      "queues: [{id: org, gpu_quota: 12}, {id: a, parent: org, gpu_quota: 8, "
      "over_quota_penalty: 1}, {id: b, parent: a}]\n",
      R"({"id":"j","queue":"b","tasks":[{"gpus":3}],"running":{"pinned":true,"tasks":[)"
      R"({"machine":"m0","gpus":[{"index":0},{"index":1},{"index":2}]}]}})");
  const CouplingLimits value(instance, Objective::value);
  ASSERT_EQ(value.size(), 2U);
  ASSERT_EQ(value.of_queues(), 2U);
  EXPECT_EQ(value.capacity(0), 9000);
  EXPECT_EQ(value.capacity(1), 5000);
  const auto chain = value.of(QueueId(2));
  EXPECT_EQ(std::vector(chain.begin(), chain.end()), (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(value.by_queue(std::vector{0.5, 0.25}), (std::vector{0.5, 0.75, 0.75}));
  EXPECT_EQ(CouplingLimits(instance, Objective::allocate).size(), 1U);
}

TEST(Share, is_in_proportion_and_loses_nothing) {
  EXPECT_EQ(proportional_shares(10, std::vector<std::int64_t>{1, 1, 1}),
            (std::vector<std::int64_t>{3, 3, 4}));
  EXPECT_EQ(proportional_shares(7, std::vector<std::int64_t>{0, 5, 0, 30}),
            (std::vector<std::int64_t>{0, 1, 0, 6}));
  EXPECT_EQ(proportional_shares(7, std::vector<std::int64_t>{0, 0}),
            (std::vector<std::int64_t>{0, 0}));
  const std::int64_t big = std::int64_t{1} << 60;
  EXPECT_EQ(proportional_shares(big, std::vector<std::int64_t>{big, big}),
            (std::vector<std::int64_t>{big / 2, big / 2}));
}

/// The five machines in two shards: rack r0, and the rest.
class Shared : public testing::Test {
 protected:
  struct Case {
    Instance instance;
    CouplingLimits limits;
    planner_model::Valuation valuation;
    planner_model::Pools pools;
    std::vector<solver::Shard> shards;

    explicit Case(Instance in)
        : instance(std::move(in)),
          limits(instance, Objective::value),
          valuation(instance, Objective::value),
          pools(planner_model::make_pools(instance.cluster, model::Level::rack)) {
      for (const std::size_t first : {0U, 2U}) {
        std::vector<MachineId> machines;
        for (std::size_t m = first; m < (first == 0 ? 2U : 5U); ++m) machines.emplace_back(m);
        shards.emplace_back(ShardId(first / 2), valuation, pools, machines, solver::ShardOptions{},
                            solver::RunContext{.limits = &limits});
      }
    }
    Case(const Case&) = delete;
    Case& operator=(const Case&) = delete;

    /// By shard: the placed and the unplaced jobs.
    void fill(Placement first, std::vector<JobId> waits, Placement second,
              std::vector<JobId> waits_too) {
      shards[0].restore({.placed = std::move(first), .unplaced = std::move(waits)});
      shards[1].restore({.placed = std::move(second), .unplaced = std::move(waits_too)});
    }
    void settle(Placement spanning = {}) {
      for (solver::Shard& shard : shards) {
        for (const JobPlacement& p : spanning) shard.reserve(p);
      }
      LimitAllocation(comm, valuation, limits, spanning).enforce(shards, spanning);
      left_spanning = spanning;
    }
    [[nodiscard]] std::vector<JobId> placed() const {
      std::vector<JobId> jobs;
      for (const solver::Shard& shard : shards) {
        for (const JobPlacement& p : shard.placement()) jobs.push_back(p.job);
      }
      std::ranges::sort(jobs);
      return jobs;
    }
    [[nodiscard]] bool kept() const {
      Placement all = left_spanning;
      for (const solver::Shard& shard : shards) {
        const Placement more = shard.placement();
        all.insert(all.end(), more.begin(), more.end());
      }
      return within_limits(limits, limit_use(comm::Communicator::serial(), instance, limits, all));
    }
    comm::Communicator comm = comm::Communicator::serial();
    Placement left_spanning;
  };
};

TEST_F(Shared, the_least_valuable_of_all_shards_goes_and_who_is_allowed_comes) {
  const std::string a = R"(,"queue":"a","weight":)";
  Case c(read("queues: [{id: a, gpu_quota: 8}]\n",
              gang("x", a + "2") + gang("y", a + "3") + gang("z", "")));
  c.fill({on(JobId(0), {0, 1})}, {JobId(2)}, {on(JobId(1), {2, 3})}, {});
  c.settle();
  EXPECT_EQ(c.placed(), (std::vector{JobId(1), JobId(2)}));
  EXPECT_TRUE(c.kept());
  EXPECT_EQ(c.shards[1].placement()[0].tasks[0].machine, MachineId(2));  // the movable job stays
  EXPECT_TRUE(c.shards[0].is_waiting(JobId(0)));
}

TEST_F(Shared, a_soft_quota_is_passed_by_jobs_worth_the_penalty) {
  const std::string a = R"(,"queue":"a","weight":)";
  for (const bool dear : {false, true}) {
    Case c(read(std::string("queues: [{id: a, gpu_quota: 8, over_quota_penalty: ") +
                    (dear ? "2.1" : "1.9") + "}]\n",
                gang("x", a + "2") + gang("y", a + "3")));
    c.fill({on(JobId(0), {0, 1})}, {}, {on(JobId(1), {2, 3})}, {});
    c.settle();
    EXPECT_EQ(c.placed().size(), dear ? 1U : 2U);
    LimitAllocation after(c.comm, c.valuation, c.limits, {});
    after.freeze(c.shards);
    EXPECT_DOUBLE_EQ(after.penalties(), dear ? 0.0 : 8 * 1.9);
  }
}

TEST_F(Shared, an_uplink_carries_no_more_than_it_can) {
  const std::string ring = R"(,"communication":{"pattern":"ring","gbps":6},"weight":)";
  // Both cross from rack r1 to r2, over pod uplinks of 5: neither may; in r1 there is room for one.
  Case c(read("", gang("x", ring + "2") + gang("y", ring + "3")));
  c.fill({}, {}, {on(JobId(0), {2, 4})}, {JobId(1)});
  c.settle();
  EXPECT_EQ(c.placed(), std::vector{JobId(1)});
  EXPECT_TRUE(c.kept());
}

TEST_F(Shared, gangs_over_several_shards_count_and_go_in_their_turn) {
  const std::string ring = R"(,"communication":{"pattern":"ring","gbps":6},"weight":)";
  const auto jobs = gang("x", ring + "2") + gang("y", ring + "3") + gang("z", ring + "1");
  Case c(read("", jobs));
  c.fill({}, {}, {}, {});
  c.settle({on(JobId(0), {0, 2}), on(JobId(1), {1, 3})});  // uplinks of 10 carry one of them
  ASSERT_EQ(c.left_spanning.size(), 1U);
  EXPECT_EQ(c.left_spanning[0].job, JobId(1));
  EXPECT_TRUE(c.shards[0].is_waiting(JobId(0)));
  EXPECT_TRUE(c.kept());
}

/// Two machines are free in each shard, the queue has room for one gang in all.
TEST_F(Shared, shards_that_were_dealt_their_share_keep_the_quota_and_others_pass_it) {
  const std::string a = R"(,"queue":"a")";
  for (const bool distributed : {true, false}) {
    Case c(read("queues: [{id: a, gpu_quota: 8}]\n", gang("x", a) + gang("y", a)));
    c.fill({}, {JobId(0)}, {}, {JobId(1)});
    LimitAllocation allocation(c.comm, c.valuation, c.limits, {});
    if (distributed) {
      allocation.freeze(c.shards);
    } else {
      for (solver::Shard& shard : c.shards)
        solver::allow(shard, 0, 8000);  // to each what there is in all
    }
    for (solver::Shard& shard : c.shards) solver::fill_idle_capacity(shard);
    EXPECT_EQ(c.kept(), distributed);
    if (!distributed) continue;
    // Held to what they use, which is nothing; together there is room for one.
    EXPECT_TRUE(c.placed().empty());
    allocation.freeze(c.shards);
    const std::vector<JobId> own{JobId(0)};
    const auto bids = solver::bids(c.shards[0], own, allocation.slack());
    ASSERT_EQ(bids.size(), 1U);
    EXPECT_EQ(bids[0].drawn, 8000);
    EXPECT_TRUE(solver::bids(c.shards[0], own, std::vector<std::int64_t>{7999}).empty());
    EXPECT_GT(solver::realise(c.shards[0], JobId(0), 0.0, bids[0].drawn), 0.0);
    EXPECT_TRUE(c.kept());
    allocation.freeze(c.shards);
    EXPECT_EQ(allocation.slack(), std::vector<std::int64_t>{0});
  }
}

/// The same for groups that are searched: they keep what they were distributed, and pass the quota
/// when each may use all of it.
TEST_F(Shared, searches_keep_what_was_dealt) {
  const std::string a = R"(,"queue":"a","weight":)";
  for (const bool distributed : {true, false}) {
    Case c(read("queues: [{id: a, gpu_quota: 8}]\n",
                gang("x", a + "2") + gang("y", a + "3") + gang("z", "")));
    c.fill({on(JobId(0), {0, 1})}, {}, {on(JobId(2), {2, 3})}, {JobId(1)});
    LimitAllocation allocation(c.comm, c.valuation, c.limits, {});
    if (distributed) {
      allocation.distribute_slack(c.shards);
    } else {
      for (solver::Shard& shard : c.shards) solver::allow(shard, 0, 8000);
    }
    const std::vector<double> prices(c.pools.size(), 0.0);
    const double gained =
        solver::search(c.shards[0], prices, {}) + solver::search(c.shards[1], prices, {});
    EXPECT_EQ(c.kept(), distributed);
    EXPECT_EQ(gained > 0.0, !distributed);
    if (!distributed) continue;
    // In one group the one that is worth more takes the place of the other.
    solver::Shard whole = c.shards[0].empty_copy(
        ShardId(0), {MachineId(0), MachineId(1), MachineId(2), MachineId(3), MachineId(4)});
    whole.restore({.placed = {on(JobId(0), {0, 1}), on(JobId(2), {2, 3})}, .unplaced = {JobId(1)}});
    std::vector<solver::Shard> one;
    one.push_back(std::move(whole));
    allocation.distribute_slack(one);
    EXPECT_DOUBLE_EQ(solver::search(one[0], prices, {}), 8.0);
    EXPECT_TRUE(one[0].is_waiting(JobId(0)));
    EXPECT_TRUE(within_limits(c.limits, limit_use(comm::Communicator::serial(), c.instance,
                                                  c.limits, one[0].placement())));
  }
}

/// Half a gang's worth each is no use to either: they take turns.
TEST_F(Shared, what_is_left_goes_to_one_shard_after_the_other) {
  const std::string a = R"(,"queue":"a")";
  Case c(read("queues: [{id: a, gpu_quota: 8}]\n", gang("x", a) + gang("y", a)));
  c.fill({}, {JobId(0)}, {}, {JobId(1)});
  LimitAllocation allocation(c.comm, c.valuation, c.limits, {});
  allocation.distribute_slack(c.shards);
  EXPECT_EQ(c.placed(), std::vector{JobId(0)});
  EXPECT_EQ(allocation.slack(), std::vector<std::int64_t>{0});
  EXPECT_TRUE(c.kept());
}

TEST_F(Shared, a_full_quota_is_freed_by_its_least_valuable_jobs) {
  const std::string a = R"(,"queue":"a","weight":)";
  const std::string one = R"(,"tasks":[{"gpus":4}]})";
  Case c(read("queues: [{id: a, gpu_quota: 8}]\n",
              gang("x", a + "5") + R"({"id":"low","queue":"a","weight":1)" + one + "\n" +
                  R"({"id":"high","queue":"a","weight":2)" + one + "\n" +
                  R"({"id":"new","queue":"a","weight":1.5)" + one));
  // Quota full with low and high; "new" finds idle machines, but only low is worth less.
  c.fill({on(JobId(1), {0})}, {}, {on(JobId(2), {2})}, {});
  LimitAllocation(c.comm, c.valuation, c.limits, {}).freeze(c.shards);
  const std::vector<JobId> fresh{JobId(3)};
  EXPECT_TRUE(solver::bids(c.shards[1], fresh).empty());
  const auto bids = solver::bids(c.shards[0], fresh);
  ASSERT_EQ(bids.size(), 1U);
  EXPECT_DOUBLE_EQ(bids[0].gain, 4 * 0.5);
  EXPECT_DOUBLE_EQ(solver::realise(c.shards[0], JobId(3), 0.0), 4 * 0.5);
  EXPECT_EQ(c.placed(), (std::vector{JobId(2), JobId(3)}));
  EXPECT_TRUE(c.shards[0].is_waiting(JobId(1)));
  EXPECT_TRUE(c.kept());
}

TEST_F(Shared, a_ring_that_an_uplink_refuses_is_tried_within_a_rack) {
  const std::string ring = R"(,"communication":{"pattern":"ring","gbps":6})";
  Case c(read("", gang("x", ring + R"(,"width_factor":{"rack":1,"pod":1,"cluster":1})") +
                      R"({"id":"low","weight":0.1,"tasks":[{"gpus":4}]})" + "\n"));
  c.fill({}, {}, {on(JobId(1), {3})}, {});  // idle: m2 in r1, m4 in another pod
  LimitAllocation(c.comm, c.valuation, c.limits, {}).freeze(c.shards);
  EXPECT_GT(solver::realise(c.shards[1], JobId(0), 0.0), 0.0);
  EXPECT_TRUE(c.kept());
  const Placement placed = c.shards[1].placement();
  EXPECT_EQ(placed[0].job, JobId(0));
  EXPECT_EQ(model::width(c.instance.cluster, placed[0].tasks), model::Level::rack);
}

TEST_F(Shared, servers_and_workers_keep_uplinks_too) {
  for (const int gbps : {2, 6}) {
    // Three workers on all machines of the second shard, the pod p carries 5 Gbit/s.
    Case c(read("", R"({"id":"j","tasks":[{"shape":"w","count":3,"gpus":4},{"shape":"s"}],)"
                    R"("communication":{"pattern":"ps","servers":"s","gbps":)" +
                        std::to_string(gbps) + "}}"));
    c.fill({}, {}, {}, {JobId(0)});
    LimitAllocation(c.comm, c.valuation, c.limits, {}).distribute_slack(c.shards);
    EXPECT_EQ(c.placed().size(), gbps == 2 ? 1U : 0U);
    EXPECT_TRUE(c.kept());
  }
}

/// Four racks of a machine each, uplinks of 10. A ring has 3 GPUs in each of the first two; the
/// next one, of six GPUs, would find room for two of its tasks there, but its 6 Gbit/s none.
TEST(Room, rings_go_round_full_uplinks) {
  std::string racks;
  for (const char r : {'0', '1', '2', '3'}) {
    racks += std::string("      - {id: r") + r + ", uplink_gbps: 10, machines: [{ids: m" + r +
             ", class: a}]}\n";
  }
  Instance instance;
  instance.cluster = io::parse_cluster(
      "schema: 1\nclasses: {a: {gpu_type: A, gpus: 4}}\npods:\n  - id: p\n    racks:\n" + racks,
      "c.yaml");
  std::string jobs;
  for (int j = 0; j < 2; ++j) {
    jobs += R"({"id":"j)" + std::to_string(j) + R"(","tasks":[{"count":6,"gpus":1}],)" +
            R"("communication":{"pattern":"ring","gbps":6}})" + "\n";
  }
  instance.workload = io::parse_jobs(jobs, "j.jsonl", instance.cluster);
  const CouplingLimits limits(instance, Objective::value);
  const planner_model::Valuation valuation(instance, Objective::value);
  const auto pools = planner_model::make_pools(instance.cluster, model::Level::rack);
  JobPlacement first{.job = JobId(0)};
  for (const std::size_t t : {0U, 1U, 2U, 3U, 4U, 5U}) {
    first.tasks.push_back({MachineId(t / 3), 0, std::uint64_t{1} << (t % 3), 1000});
  }
  for (const bool searched : {false, true}) {
    std::vector<solver::Shard> shards;
    shards.emplace_back(
        ShardId(0), valuation, pools,
        std::vector<MachineId>{MachineId(0), MachineId(1), MachineId(2), MachineId(3)},
        solver::ShardOptions{}, solver::RunContext{.limits = &limits});
    shards[0].restore({.placed = {first}, .unplaced = {JobId(1)}});
    const auto comm = comm::Communicator::serial();
    LimitAllocation(comm, valuation, limits, {}).freeze(shards);
    if (searched) {
      EXPECT_GT(solver::realise(shards[0], JobId(1), 0.0), 0.0);
    } else {
      solver::fill_idle_capacity(shards[0]);
    }
    EXPECT_EQ(shards[0].placement().size(), 2U);
    EXPECT_TRUE(within_limits(
        limits, limit_use(comm::Communicator::serial(), instance, limits, shards[0].placement())));
  }
}

TEST_F(Shared, nothing_changes_without_limits) {
  Case c(read("queues: [{id: a}]\n", gang("x", R"(,"queue":"a")")));
  EXPECT_TRUE(c.limits.empty());
  c.fill({on(JobId(0), {0, 1})}, {}, {}, {});
  EXPECT_TRUE(c.kept());
  EXPECT_TRUE(solver::limit_uses(c.shards[0]).empty());
}

}  // namespace
}  // namespace berth::coordinator
