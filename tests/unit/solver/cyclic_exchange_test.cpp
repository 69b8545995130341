// SPDX-License-Identifier: Apache-2.0
// Cyclic exchange against all permutations, and machines that are repartitioned.
#include "local_search/cyclic_exchange.hpp"

#include "greedy_plan.hpp"
#include "instance_builder.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <gtest/gtest.h>

#include "berth/solver/dive.hpp"

namespace berth::solver {
namespace {

using test::InstanceBuilder;

constexpr double kNever = -1e9;

/// Racks of one machine, two types, jobs of 4 GPUs; the first ones are placed on the machines in
/// any order.
struct Swapped {
  InstanceBuilder plan{{"A", "B"}};
  std::vector<JobId> waiting;
  model::Placement placed;

  Swapped(std::uint64_t seed, int machines, int jobs) {
    PodId pod;
    for (int m = 0; m < machines; ++m) {
      if (m % 2 == 0) pod = plan.pod();
      plan.rack(pod);
      plan.add_machines(1, m % 2, 4);
    }
    for (int j = 0; j < jobs; ++j) {
      const auto draw = [&](std::uint64_t what, std::uint64_t bound) {
        return random_below(bound, {seed, static_cast<std::uint64_t>(j), what});
      };
      plan.job({.gpus = 4,
                .weight = static_cast<double>(1 + draw(0, 6)),
                .speed = {1.0 + static_cast<double>(draw(1, 3)), 1.0},
                .home_factor = {1.0, 1.0, 0.75, 0.5},
                .home = RackId(draw(2, static_cast<std::uint64_t>(machines))),
                .types = draw(3, 5) == 0 ? 1U + draw(4, 2) : 3U});
    }
    for (std::size_t j = 0; j < plan.jobs.size(); ++j) {
      const model::Job& job = plan.instance.workload.job(plan.jobs[j]);
      const bool room = placed.size() < static_cast<std::size_t>(machines);
      if (room && ((job.gpu_types >> (placed.size() % 2)) & 1U) == 1U) {
        placed.push_back({.job = plan.jobs[j], .tasks = {{MachineId(placed.size()), 0, 15, 1000}}});
      } else {
        waiting.push_back(plan.jobs[j]);
      }
    }
  }

  [[nodiscard]] double value_of(const model::Placement& all) const {
    double sum = 0.0;
    for (const auto& p : all) sum += plan.value().placed(p);
    return sum;
  }

  /// The best assignment of jobs to the machines that have one, none left empty, by trying all.
  [[nodiscard]] double best() const {
    std::vector<std::vector<double>> worth;
    for (const JobId job : plan.jobs) {
      worth.emplace_back();
      for (const auto& at : placed) {
        const auto type = plan.instance.cluster.class_of(at.tasks[0].machine).gpu_type;
        const bool may = ((plan.instance.workload.job(job).gpu_types >> type.index()) & 1U) == 1U;
        worth.back().push_back(may ? plan.value().placed({.job = job, .tasks = at.tasks}) : kNever);
      }
    }
    std::vector<char> used(plan.jobs.size(), 0);
    const std::function<double(std::size_t)> fill = [&](std::size_t slot) {
      if (slot == placed.size()) return 0.0;
      double most = kNever;
      for (std::size_t j = 0; j < used.size(); ++j) {
        if (used[j] != 0) continue;
        used[j] = 1;
        most = std::max(most, worth[j][slot] + fill(slot + 1));
        used[j] = 0;
      }
      return most;
    };
    return fill(0);
  }
};

TEST(CyclicExchange, finds_the_best_of_all_permutations) {
  int better = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Swapped s(seed, 4, 7);
    const double before = s.value_of(s.placed), best = s.best();
    const auto pools = s.plan.pools();
    const double gained = cyclic_exchange(s.plan.value(), pools, s.waiting, s.placed);
    EXPECT_NEAR(s.value_of(s.placed), before + gained, 1e-9);
    EXPECT_NEAR(s.value_of(s.placed), best, 1e-9);
    EXPECT_EQ(s.placed.size() + s.waiting.size(), s.plan.jobs.size());
    EXPECT_TRUE(std::ranges::is_sorted(s.waiting));
    better += gained > 0.0 ? 1 : 0;
  }
  EXPECT_GT(better, 40);
}

/// What one place more or fewer is worth, against the best assignment with and without it.
TEST(CyclicExchange, prices_places_exactly) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Swapped all(seed, 5, 7);
    Swapped fewer = all;
    fewer.waiting.push_back(fewer.placed.back().job);
    fewer.placed.pop_back();
    std::ranges::sort(fewer.waiting);
    const std::size_t all_placed = all.placed.size();
    const double with = all.best(), without = fewer.best();
    const auto value = all.plan.value();
    const auto pools = all.plan.pools();
    const assignment::PoolIndex pool_index(all.plan.instance.cluster, pools);
    const assignment::OptionTable option_table(value, pool_index, all.plan.jobs);
    for (Swapped* s : {&all, &fewer}) {
      Occupancy occupancy(value, all.plan.machines);
      occupancy.admit(all.plan.jobs);
      for (const auto& p : s->placed) occupancy.take(p);
      const assignment::PoolMachines machines(pool_index, all.plan.machines);
      const auto ranks = planner_model::precedence_ranks(value, all.plan.jobs);
      std::vector<local_search::CyclicExchange<Occupancy>> exchanges =
          local_search::make_exchanges(local_search::SearchSpace<Occupancy>{
              occupancy, option_table, pool_index, machines, all.plan.jobs, ranks});
      ASSERT_EQ(exchanges.size(), 1u);
      exchanges[0].cancel_cycles();
      exchanges[0].add_pool_nodes();
      const auto node = exchanges[0].node_of_pool(PoolId(all_placed - 1));
      if (node == local_search::CyclicExchange<Occupancy>::kNone)
        continue;  // worth nothing to any job
      if (s == &fewer) {
        EXPECT_NEAR(exchanges[0].value_of_one_more(node), with - without, 1e-9);
      } else if (exchanges[0].value_of_one_less(node) > kNever) {
        EXPECT_NEAR(exchanges[0].value_of_one_less(node), without - with, 1e-9);
      }
    }
  }
}

/// Improving cycles that were not cancelled have no longest paths; paths of finite length end.
TEST(CyclicExchange, finds_paths_that_end_beside_improving_cycles) {
  using Exchange = local_search::CyclicExchange<Occupancy>;
  int cut = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const Swapped s(seed, 5, 7);
    const auto value = s.plan.value();
    const auto pools = s.plan.pools();
    const assignment::PoolIndex pool_index(s.plan.instance.cluster, pools);
    const assignment::OptionTable option_table(value, pool_index, s.plan.jobs);
    Occupancy occupancy(value, s.plan.machines);
    occupancy.admit(s.plan.jobs);
    for (const auto& p : s.placed) occupancy.take(p);
    const assignment::PoolMachines machines(pool_index, s.plan.machines);
    const auto ranks = planner_model::precedence_ranks(value, s.plan.jobs);
    Exchange exchange = local_search::make_exchanges(local_search::SearchSpace<Occupancy>{
        occupancy, option_table, pool_index, machines, s.plan.jobs, ranks})[0];
    exchange.add_pool_nodes();
    for (std::size_t p = 0; p < pools.size(); ++p) {
      const auto node = exchange.node_of_pool(PoolId(p));
      if (node == Exchange::kNone) continue;
      if (exchange.value_of_one_less(node) > kNever) {
        EXPECT_LE(exchange.path_to_remove(node).jobs.size(), s.plan.jobs.size());
      } else {
        ++cut;
      }
      if (exchange.value_of_one_more(node) > kNever) {
        EXPECT_LE(exchange.path_to_add(node).jobs.size(), s.plan.jobs.size());
      }
    }
  }
  EXPECT_GT(cut, 0);
}

/// Queues org > a, b, the latter soft, and none; jobs are dealt to them in turn.
void add_queues(model::Instance& instance) {
  instance.cluster.queues = {{.name = "org", .gpu_quota = 8},
                             {.name = "a", .gpu_quota = 4, .parent = QueueId(0)},
                             {.name = "b", .gpu_quota = 4, .parent = QueueId(0)}};
  instance.cluster.queues[2].over_quota_penalty = 1.0;
  for (std::size_t j = 0; j < instance.workload.jobs.size(); ++j) {
    if (j % 4 != 3) instance.workload.jobs[j].queue = QueueId(j % 4);
  }
}

/// The best of all ways to fill the places by which no hard quota is used more than it is now, and
/// soft ones at their penalty.
double best_within(const Swapped& s, const planner_model::CouplingLimits& limits) {
  planner_model::LimitUsage limit_usage(s.plan.instance, &limits);
  for (const auto& p : s.placed) limit_usage.add(p);
  for (std::size_t l = 0; l < limit_usage.size(); ++l) limit_usage.allow(l, limit_usage.use(l));
  for (const auto& p : s.placed) limit_usage.remove(p);
  std::vector<char> used(s.plan.jobs.size(), 0);
  const auto value = s.plan.value();
  const std::function<double(std::size_t)> fill = [&](std::size_t slot) {
    if (slot == s.placed.size()) return 0.0;
    const auto type = s.plan.instance.cluster.class_of(s.placed[slot].tasks[0].machine).gpu_type;
    double most = kNever;
    for (std::size_t j = 0; j < used.size(); ++j) {
      const model::JobPlacement p{.job = JobId(j), .tasks = s.placed[slot].tasks};
      const bool may = ((s.plan.instance.workload.job(p.job).gpu_types >> type.index()) & 1U) == 1U;
      const auto surcharge = limit_usage.surcharge(p.job);
      if (used[j] != 0 || !may || !surcharge) continue;
      used[j] = 1;
      limit_usage.add(p);
      most = std::max(most, value.placed(p) - *surcharge + fill(slot + 1));
      limit_usage.remove(p);
      used[j] = 0;
    }
    return most;
  };
  return fill(0);
}

TEST(CyclicExchange, finds_the_best_that_quotas_allow) {
  int better = 0, bound = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Swapped s(seed, 4, 8);
    add_queues(s.plan.instance);
    const planner_model::CouplingLimits limits(s.plan.instance, model::Objective::value);
    planner_model::LimitUsage limit_usage(s.plan.instance, &limits);
    for (const auto& p : s.placed) limit_usage.add(p);
    for (std::size_t l = 0; l < limit_usage.size(); ++l) limit_usage.allow(l, limit_usage.use(l));
    const double before = s.value_of(s.placed), best = best_within(s, limits);
    bound += best < s.best() - 1e-9 ? 1 : 0;
    const double gained =
        cyclic_exchange(s.plan.value(), s.plan.pools(), s.waiting, s.placed, {}, &limits);
    planner_model::LimitUsage after(s.plan.instance, &limits);
    for (const auto& p : s.placed) after.add(p);
    for (std::size_t l = 0; l < after.size(); ++l) {
      after.allow(l, limit_usage.allowance(l));
      EXPECT_TRUE(after.left(l) >= 0 || std::isfinite(limits.penalty(l)));
    }
    const double lost = after.surcharges();
    EXPECT_NEAR(s.value_of(s.placed) - lost, before + gained, 1e-9);
    EXPECT_NEAR(s.value_of(s.placed) - lost, best, 1e-9);
    better += gained > 0.0 ? 1 : 0;
  }
  EXPECT_GT(better, 30);
  EXPECT_GT(bound, 10);  // else no quota is binding
}

// Two gangs over both racks, one of which communicates: only a job that communicates may take its
// place, and a place within a rack.
TEST(CyclicExchange, leaves_the_traffic_where_it_is) {
  InstanceBuilder plan({"A"});
  const PodId pod = plan.pod();
  for (int r = 0; r < 2; ++r) plan.rack(pod), plan.add_machines(3, 0, 1);
  for (auto& rack : plan.instance.cluster.racks) rack.uplink_gbps = 1.0;
  for (const double weight : {1.0, 1.1, 1.2, 5.0, 4.0}) {
    plan.job({.tasks = 2, .gpus = 1, .weight = weight});
  }
  for (const std::size_t j : {1U, 3U, 4U}) plan.instance.workload.jobs[j].communication.mbps = 1000;
  for (const std::size_t j : {1U, 3U, 4U}) {
    plan.instance.workload.jobs[j].communication.pattern = model::CommunicationPattern::ring;
  }
  const auto on = [](std::size_t j, std::size_t a, std::size_t b) {
    return model::JobPlacement{.job = JobId(j),
                               .tasks = {{MachineId(a), 0, 1, 1000}, {MachineId(b), 0, 1, 1000}}};
  };
  const planner_model::CouplingLimits limits(plan.instance, model::Objective::value);
  std::vector<JobId> waiting{JobId(3), JobId(4)};
  model::Placement placed{on(0, 0, 3), on(1, 1, 4), on(2, 2, 5)};
  cyclic_exchange(plan.value(), plan.pools(), waiting, placed, {}, &limits);
  EXPECT_EQ(waiting, (std::vector{JobId(1), JobId(4)}));  // the quiet ones stay over both racks
  ASSERT_EQ(placed.size(), 3U);
  EXPECT_EQ(placed[2].tasks[0].machine, MachineId(1));
  // The same with one of the quiet ones within a rack.
  waiting = {JobId(1), JobId(4)};
  placed = {on(0, 0, 3), on(2, 2, 1), on(3, 4, 5)};
  cyclic_exchange(plan.value(), plan.pools(), waiting, placed, {}, &limits);
  EXPECT_EQ(waiting,
            (std::vector{JobId(0), JobId(1)}));  // the cheapest is evicted, the other moves
}

TEST(CyclicExchange, leaves_jobs_alone_that_must_run) {
  InstanceBuilder plan({"A"});
  plan.rack(plan.pod());
  plan.add_machines(1, 0, 4);
  const JobId must = plan.job({.gpus = 4, .required = true});
  const JobId better = plan.job({.gpus = 4, .weight = 5.0});
  std::vector<JobId> waiting{better};
  model::Placement placed{{.job = must, .tasks = {{MachineId(0), 0, 15, 1000}}}};
  EXPECT_EQ(cyclic_exchange(plan.value(), plan.pools(), waiting, placed), 0.0);
  EXPECT_EQ(placed[0].job, must);
}

/// Searches by repartitions alone from the given placement.
double repartition(const InstanceBuilder& plan, std::vector<JobId>& waiting,
                   model::Placement& placed) {
  const auto value = plan.value();
  const auto pools = plan.pools();
  Occupancy occupancy(value, plan.machines);
  occupancy.admit(waiting);
  for (const auto& p : placed) occupancy.take(p);
  const std::vector<double> prices(pools.size(), 0.0);
  const double gained = improve(occupancy, {pools, prices}, {.chains = 0, .repartitions = 1000});
  placed = occupancy.placement();
  waiting = occupancy.unplaced_jobs();
  planner_model::Room replay(plan.instance.cluster);
  for (const auto& p : placed) planner_model::take(replay, plan.instance.workload, p);
  for (const MachineId m : plan.machines) {
    EXPECT_EQ(replay.free_milli(m), occupancy.room().free_milli(m));
    EXPECT_EQ(replay.free_cpu(m), occupancy.room().free_cpu(m));
  }
  return gained;
}

// A job of 8 GPUs worth 8 gives way to two of 2 GPUs and four of 1, worth 2 a GPU, and back.
TEST(MachineRepartition, cuts_a_place_up_and_joins_places) {
  for (const double small : {2.0, 0.5}) {
    InstanceBuilder plan({"A"});
    plan.rack(plan.pod());
    plan.add_machines(1, 0, 8);
    const JobId large = plan.job({.gpus = 8});
    std::vector<JobId> waiting;
    for (int j = 0; j < 6; ++j)
      waiting.push_back(plan.job({.gpus = j < 2 ? 2 : 1, .weight = small}));
    model::Placement placed{{.job = large, .tasks = {{MachineId(0), 0, 255, 1000}}}};
    EXPECT_EQ(repartition(plan, waiting, placed), small > 1.0 ? 8.0 : 0.0);
    EXPECT_EQ(placed.size(), small > 1.0 ? 6u : 1u);
    if (small < 1.0) continue;
    plan.instance.workload.jobs[large.index()].weight = 3.0;
    EXPECT_EQ(repartition(plan, waiting, placed), 8.0);
    EXPECT_EQ(placed.size(), 1u);
  }
}

// The new place is in a rack where only a chain can use it: the job at home there comes from
// another rack, where the waiting one is at home.
TEST(MachineRepartition, fills_a_new_place_by_a_chain) {
  InstanceBuilder plan({"A"});
  const PodId pod = plan.pod();
  for (int r = 0; r < 2; ++r) plan.rack(pod), plan.add_machines(1, 0, 4);
  const model::Factors home{1.0, 1.0, 0.25, 0.25};
  const JobId away = plan.job({.gpus = 4, .home_factor = home, .home = RackId(0)});
  const JobId pair = plan.job({.gpus = 2, .weight = 0.5});
  const JobId waits = plan.job({.gpus = 4, .home_factor = home, .home = RackId(1)});
  std::vector<JobId> waiting{waits};
  model::Placement placed{{.job = away, .tasks = {{MachineId(1), 0, 15, 1000}}},
                          {.job = pair, .tasks = {{MachineId(0), 0, 3, 1000}}}};
  EXPECT_EQ(repartition(plan, waiting, placed), 8.0 - 1.0 - 1.0);
  EXPECT_EQ(waiting, std::vector<JobId>{pair});
}

// Four jobs of one GPU fit by GPUs, but not by CPUs.
TEST(MachineRepartition, keeps_to_the_cpus_there_are) {
  InstanceBuilder plan({"A"});
  plan.rack(plan.pod());
  plan.add_machines(1, 0, 4, 4'000);
  const JobId large = plan.job({.gpus = 4});
  std::vector<JobId> waiting;
  for (int j = 0; j < 4; ++j) waiting.push_back(plan.job({.gpus = 1, .cpu = 2'000, .weight = 1.5}));
  model::Placement placed{{.job = large, .tasks = {{MachineId(0), 0, 15, 1000}}}};
  EXPECT_EQ(repartition(plan, waiting, placed), 0.0);
  EXPECT_EQ(placed[0].job, large);
}

TEST(MachineRepartition, gains_on_a_mixed_instance_and_keeps_the_room_right) {
  const InstanceBuilder plan = test::mixed_instance(7, 500);
  const auto value = plan.value();
  Occupancy filled(value, plan.machines);
  filled.admit(plan.jobs);
  test::add_greedily(filled);
  std::vector<JobId> waiting = filled.unplaced_jobs();
  model::Placement placed = filled.placement();
  double before = 0.0, after = 0.0;
  for (const auto& p : placed) before += plan.value().placed(p);
  const double gained = repartition(plan, waiting, placed);
  for (const auto& p : placed) {
    after += plan.value().placed(p);
    EXPECT_LE(planner_model::extent(plan.instance, p).width,
              plan.instance.workload.job(p.job).domain);
  }
  EXPECT_NEAR(after, before + gained, 1e-6);
  EXPECT_GT(gained, 0.005 * before);
  EXPECT_EQ(placed.size() + waiting.size(), plan.jobs.size());
}

}  // namespace
}  // namespace berth::solver
