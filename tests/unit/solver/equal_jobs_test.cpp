// SPDX-License-Identifier: Apache-2.0
// Two equal jobs, one place: swapping their priorities swaps their fate, whichever search decides.
#include "greedy_plan.hpp"
#include "petsc_environment.hpp"
#include "tiny.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "berth/planner_model/room.hpp"
#include "berth/solver/dive.hpp"
#include "berth/solver/online.hpp"
#include "berth/solver/pack.hpp"
#include "berth/solver/required_job_repair.hpp"
#include "berth/solver/shard_limits.hpp"
#include "berth/solver/shard_planning.hpp"

namespace berth::solver {
namespace {

using model::JobPlacement;
using model::Placement;
using test::Tiny;
using test::TinyTask;

/// Machines of 8 GPUs, one in each rack, two racks in a pod; the equal jobs are the first ones.
struct Toy {
  Tiny tiny;
  JobId a, b;

  Toy(int machines, const std::vector<TinyTask>& tasks) {
    const ClassId c = tiny.machine_class("c", tiny.type("A"), 8, 64000, 1000);
    for (int m = 0; m < machines; ++m) {
      if (m % 2 == 0) tiny.pod();
      tiny.rack(), tiny.machine(c);
    }
    a = tiny.job(tasks), b = tiny.job(tasks);
  }
  [[nodiscard]] planner_model::Valuation valuation() const {
    return {tiny.instance, model::Objective::value};
  }
  [[nodiscard]] std::vector<MachineId> machines() const {
    std::vector<MachineId> all;
    for (std::size_t m = 0; m < tiny.instance.cluster.machines(); ++m) all.emplace_back(m);
    return all;
  }
  [[nodiscard]] std::vector<JobId> jobs() const {
    return model::planned_jobs(tiny.instance.workload);
  }
  [[nodiscard]] planner_model::Pools pools() const {
    return planner_model::make_pools(tiny.instance.cluster, model::Level::rack);
  }
  [[nodiscard]] std::vector<double> prices() const { return std::vector(pools().size(), 0.5); }
  [[nodiscard]] JobPlacement on(JobId job, std::size_t machine) const {
    planner_model::Room room(tiny.instance.cluster);
    return *planner_model::place_job(room, tiny.instance.workload, job,
                                     std::vector{MachineId(machine)});
  }
  /// Both get a home pod: the second, or any.
  void at_home() {
    const std::uint32_t row = tiny.factors({1.0, 1.0, 1.0, 0.5});
    for (const JobId j : {a, b}) tiny[j].home_pod = PodId(0), tiny[j].home_factor = row;
  }
};

Placement dived(const Toy& toy, const DiveOptions& options = {}) {
  const auto valuation = toy.valuation();
  const planner_model::Pools pools = toy.pools();
  const std::vector<double> prices = toy.prices();
  Occupancy occupancy(valuation, toy.machines());
  occupancy.admit(toy.jobs());
  dive(occupancy, {pools, prices}, toy.jobs(), options);
  return occupancy.placement();
}

Placement packed(const Toy& toy) {
  const auto valuation = toy.valuation();
  Occupancy occupancy(valuation, toy.machines());
  pack(occupancy, toy.jobs());
  return occupancy.placement();
}

Placement filled(const Toy& toy) {
  const auto valuation = toy.valuation();
  Occupancy occupancy(valuation, toy.machines());
  occupancy.admit(toy.jobs());
  test::add_greedily(occupancy);
  return occupancy.placement();
}

/// By ejection chains from `placed`.
Placement chained(const Toy& toy, const Placement& placed) {
  const auto valuation = toy.valuation();
  const planner_model::Pools pools = toy.pools();
  const std::vector<double> prices = toy.prices();
  Occupancy occupancy(valuation, toy.machines());
  occupancy.admit(toy.jobs());
  for (const JobPlacement& p : placed) occupancy.take(p);
  improve(occupancy, {pools, prices}, {.chains = 100, .repartitions = 0});
  return occupancy.placement();
}

struct Shards {
  planner_model::Valuation valuation;
  planner_model::Pools pools;
  Shard shard;
  explicit Shards(const Toy& toy)
      : valuation(toy.valuation()),
        pools(toy.pools()),
        shard(ShardId(0), valuation, pools, toy.machines(), {}) {}
};

/// The two are placed, and a third job of their size is worth more.
struct Crowded {
  Toy toy;
  JobId third;
  planner_model::Room room;
  Placement both;

  explicit Crowded(const Toy& t)
      : toy(t), third(toy.tiny.job({{.gpus = 4}})), room(toy.tiny.instance.cluster) {
    toy.tiny[third].weight = 9.0;
    for (const JobId j : {toy.a, toy.b}) {
      both.push_back(
          *planner_model::place_job(room, toy.tiny.instance.workload, j, toy.machines()));
    }
  }
};

/// The jobs of a shard; those in `placed` lie there, the others wait.
Placement restored(const Toy& toy, Placement placed, const std::function<void(Shard&)>& search) {
  Shards s(toy);
  std::vector<JobId> waiting;
  for (const JobId j : toy.jobs()) {
    if (!std::ranges::binary_search(placed, j, {}, &JobPlacement::job)) waiting.push_back(j);
  }
  s.shard.restore({.placed = std::move(placed), .unplaced = waiting, .evicted = waiting});
  search(s.shard);
  return s.shard.placement();
}

struct Path {
  std::string name;
  Toy toy;
  std::function<Placement(const Toy&)> plan;
};

std::vector<Path> paths() {
  std::vector<Path> all;
  all.push_back({"pattern_lp", Toy(1, {{.gpus = 8}}), packed});
  all.push_back({"pattern_lp_shares", Toy(1, {{.gpu_milli = 600}}), packed});
  for (int g = 0; g < 7; ++g) {  // one device is left
    Tiny& tiny = all.back().toy.tiny;
    tiny[tiny.job({{.gpus = 1}})].weight = 9.0;
  }
  all.push_back({"pattern_lp_of_cpu_tasks", Toy(1, {{.cpu_milli = 40000}}), packed});
  all.push_back({"dive_of_gangs", Toy(2, {{.count = 2, .gpus = 8}}), [](const Toy& t) {
                   return dived(t, {.effort = {0, 0}});
                 }});
  all.push_back({"dive_at_home", Toy(1, {{.gpus = 8}}), [](const Toy& t) {
                   return dived(t, {.effort = {0, 0}});
                 }});
  all.back().toy.at_home();
  all.push_back({"dive_and_search", Toy(2, {{.count = 2, .gpus = 8}, {.cpu_milli = 1000}}),
                 [](const Toy& t) { return dived(t); }});
  all.push_back({"fill_of_gpus", Toy(1, {{.gpus = 5}}), filled});
  all.push_back({"fill_of_cpus", Toy(1, {{.cpu_milli = 40000}}), filled});
  all.push_back({"idle_room_of_a_shard", Toy(1, {{.gpus = 5}}), [](const Toy& t) {
                   return restored(t, {}, [](Shard& s) { fill_idle_capacity(s); });
                 }});
  all.push_back({"idle_cpus_of_a_shard", Toy(1, {{.cpu_milli = 40000}}), [](const Toy& t) {
                   return restored(t, {}, [](Shard& s) { fill_idle_capacity(s); });
                 }});
  all.push_back({"insertion", Toy(1, {{.gpus = 5}}),
                 [](const Toy& t) { return restored(t, {}, [](Shard& s) { improve(s); }); }});
  all.push_back({"eviction_by_insertion", Toy(1, {{.gpus = 4}}), [](const Toy& t) {
                   const Crowded c(t);
                   return restored(c.toy, c.both, [](Shard& s) { improve(s); });
                 }});
  all.push_back({"eviction_by_chains", Toy(1, {{.gpus = 4}}), [](const Toy& t) {
                   const Crowded c(t);
                   return chained(c.toy, c.both);
                 }});
  all.push_back({"chains_fill_idle_room", Toy(1, {{.gpus = 5}}),
                 [](const Toy& t) { return chained(t, {}); }});
  for (const int holder : {0, 1}) {  // whichever of the two has the place before
    all.push_back(
        {"exchange_" + std::to_string(holder), Toy(1, {{.gpus = 8}}), [holder](const Toy& t) {
           Placement placed{t.on(JobId(holder), 0)};
           std::vector<JobId> waiting{JobId(1 - holder)};
           cyclic_exchange(t.valuation(), t.pools(), waiting, placed);
           return placed;
         }});
  }
  all.push_back({"repair_of_required_jobs", Toy(1, {{.gpus = 4}}), [](const Toy& t) {
                   Crowded c(t);
                   c.toy.tiny[c.third].required = true;
                   EXPECT_TRUE(repair_required_jobs(c.toy.valuation(), nullptr, c.both));
                   return c.both;
                 }});
  all.push_back(
      {"online_batch", Toy(1, {{.gpus = 5}}), [](const Toy& t) {
         const auto valuation = t.valuation();
         return place_online(valuation, t.jobs(), {}, {.batch = 2, .take_all = true}).placed;
       }});
  return all;
}

TEST(EqualJobs, swap_their_fate_with_their_priorities) {
  for (Path& path : paths()) {
    for (const auto& [a, b] : {std::pair{1, 0}, std::pair{0, 1}, std::pair{-1, -2}}) {
      SCOPED_TRACE(path.name + ": priorities " + std::to_string(a) + " and " + std::to_string(b));
      path.toy.tiny[path.toy.a].priority = a;
      path.toy.tiny[path.toy.b].priority = b;
      const Placement placed = path.plan(path.toy);
      const auto has = [&](JobId j) {
        return std::ranges::find(placed, j, &JobPlacement::job) != placed.end();
      };
      EXPECT_EQ(has(path.toy.a), a > b);
      EXPECT_EQ(has(path.toy.b), b > a);
    }
  }
}

TEST(EqualJobs, of_one_priority_go_by_arrival) {
  for (Path& path : paths()) {
    for (const auto& [a, b] : {std::pair{1, 0}, std::pair{0, 1}, std::pair{5, 5}}) {
      SCOPED_TRACE(path.name + ": arrivals " + std::to_string(a) + " and " + std::to_string(b));
      path.toy.tiny[path.toy.a].arrival = a;
      path.toy.tiny[path.toy.b].arrival = b;
      const Placement placed = path.plan(path.toy);
      EXPECT_EQ(std::ranges::find(placed, path.toy.a, &JobPlacement::job) != placed.end(), a <= b);
      EXPECT_EQ(std::ranges::find(placed, path.toy.b, &JobPlacement::job) != placed.end(), b < a);
    }
  }
}

/// The job that goes first to get back within a limit is the last by precedence.
TEST(EqualJobs, leave_a_quota_in_the_reverse_order) {
  for (const auto& [a, b] : {std::pair{1, 0}, std::pair{0, 1}}) {
    Toy toy(1, {{.gpus = 4}});
    toy.tiny.instance.cluster.queues.push_back({.name = "q", .gpu_quota = 4});
    for (const JobId j : {toy.a, toy.b}) toy.tiny[j].queue = QueueId(0);
    toy.tiny[toy.a].priority = a, toy.tiny[toy.b].priority = b;
    const auto valuation = toy.valuation();
    const auto pools = toy.pools();
    const planner_model::CouplingLimits limits(toy.tiny.instance, model::Objective::value);
    Shard shard(ShardId(0), valuation, pools, toy.machines(), {}, {.limits = &limits});
    shard.restore({.placed = Crowded(toy).both});
    const std::vector<EvictionCandidate> first = eviction_candidates(shard, 0, 1);
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(first.front().precedence.job, a > b ? toy.b : toy.a);
  }
}

}  // namespace
}  // namespace berth::solver
