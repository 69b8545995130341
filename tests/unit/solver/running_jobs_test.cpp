// SPDX-License-Identifier: Apache-2.0
// Plans of a shard with running jobs: the better of two starts, with few moves.
#include "local_search/gang_exchange.hpp"
#include "local_search/return_running_jobs.hpp"
#include "petsc_environment.hpp"
#include "shard_builder.hpp"

#include <gtest/gtest.h>

#include "berth/solver/shard_planning.hpp"

namespace berth::solver {
namespace {

using model::JobPlacement;
using test::on;

/// The job runs at this placement.
void run(test::InstanceBuilder& plan, const JobPlacement& present, double stop_cost,
         double move_cost) {
  model::Workload& workload = plan.instance.workload;
  workload.jobs[present.job.index()].running = static_cast<std::int32_t>(workload.running.size());
  workload.running.push_back(
      {.job = present.job,
       .stop_cost = stop_cost,
       .move_cost = move_cost,
       .first_task = static_cast<std::uint32_t>(workload.running_tasks.size()),
       .tasks = static_cast<std::uint32_t>(present.tasks.size())});
  workload.running_tasks.insert(workload.running_tasks.end(), present.tasks.begin(),
                                present.tasks.end());
}

bool stays(const test::WholeShard& s, JobId job) {
  const model::InstanceView& instance = s.valuation.instance();
  const model::Running* running = instance.workload.running_of(instance.workload.job(job));
  const model::Placement placement = s.shard.placement();
  const auto placed = std::ranges::find(placement, job, &JobPlacement::job);
  return placed != placement.end() && planner_model::stays(instance.workload, *running, *placed);
}

/// Plans all jobs of the shard; `prices` per GPU.
void plan_all(test::WholeShard& s, const test::InstanceBuilder& plan, double price) {
  std::vector<JobId> waiting;
  for (const JobId job : plan.jobs) {
    const model::Running* running =
        plan.instance.workload.running_of(plan.instance.workload.jobs[job.index()]);
    if (running == nullptr) {
      waiting.push_back(job);
    } else {
      add_running(s.shard, planner_model::current_placement(plan.instance.workload, *running));
    }
  }
  solver::plan(s.shard, waiting, std::vector<double>(s.pools.size(), price));
}

/// Each of four machines holds a job of one GPU; a gang needs two empty ones.
TEST(RunningJobs, those_of_least_move_cost_make_room_for_a_gang) {
  auto plan = test::one_rack(4);
  for (int m = 0; m < 4; ++m) plan.job({.gpus = 1, .weight = 2.0});
  const double costs[] = {0.3, 0.1, 0.4, 0.2};
  for (std::size_t m = 0; m < 4; ++m) run(plan, on(plan.jobs[m], m, 1), 1.0, costs[m]);
  const JobId gang = plan.job({.tasks = 2, .gpus = 4});
  test::WholeShard s(plan);
  plan_all(s, plan, 0.5);
  EXPECT_FALSE(s.shard.is_waiting(gang));
  EXPECT_TRUE(stays(s, plan.jobs[0]));
  EXPECT_TRUE(stays(s, plan.jobs[2]));
  EXPECT_DOUBLE_EQ(s.shard.value(), 8.0 + 4 * (2.0 + 1.0) - 0.1 - 0.2);
}

/// Two racks of two machines hold running jobs, a third has one machine for those that leave. The
/// gang needs one of the two racks; moves from the second one cost less.
TEST(RunningJobs, a_dive_clears_the_rack_of_least_move_costs) {
  test::InstanceBuilder plan({"A"});
  const PodId pod = plan.pod();
  for (const int machines : {2, 2, 1}) {
    plan.rack(pod);
    plan.add_machines(machines, 0, 4);
  }
  for (int m = 0; m < 4; ++m) plan.job({.gpus = 1, .weight = 2.0});
  for (std::size_t m = 0; m < 4; ++m) {
    run(plan, on(plan.jobs[m], m, 1), 1.0, m < 2 ? 0.4 : 0.1);
  }
  const JobId gang = plan.job({.tasks = 2, .gpus = 4, .spread = {1.0, 1.0, 0.5, 0.5}});
  const planner_model::Valuation valuation = plan.value();
  const planner_model::Pools pools =
      planner_model::make_pools(plan.instance.cluster, model::Level::rack);
  Occupancy occupancy(valuation, plan.machines);
  occupancy.admit(plan.jobs);
  DiveOptions options;
  options.effort = {.chains = 0, .repartitions = 0};
  dive(occupancy, {pools, std::vector<double>(pools.size(), 0.5)}, plan.jobs, options);
  ASSERT_TRUE(occupancy.is_placed(gang));
  EXPECT_EQ(occupancy.placed(gang).tasks.front().machine, MachineId(2));
}

/// Two jobs with equal tasks and different values hold each other's places.
TEST(RunningJobs, jobs_with_equal_tasks_exchange_places) {
  auto plan = test::one_rack(2);
  const JobId a = plan.job({.gpus = 4, .weight = 2.0});
  const JobId b = plan.job({.gpus = 4, .weight = 1.0});
  run(plan, on(a, 0, 15), 0.0, 0.5);
  run(plan, on(b, 1, 15), 0.0, 0.25);
  const planner_model::Valuation valuation = plan.value();
  Occupancy occupancy(valuation, plan.machines);
  occupancy.take(on(a, 1, 15));
  occupancy.take(on(b, 0, 15));
  EXPECT_DOUBLE_EQ(local_search::return_running_jobs(occupancy, {}), 0.75);
  EXPECT_EQ(occupancy.placed(a).tasks.front().machine, MachineId(0));
}

/// The job waits for devices that a waiting job took; that job fits beside.
TEST(RunningJobs, return_to_their_devices) {
  auto plan = test::one_rack(1);
  const JobId a = plan.job({.gpus = 2});
  const JobId b = plan.job({.gpus = 1});
  run(plan, on(a, 0, 3), 0.0, 0.5);
  const planner_model::Valuation valuation = plan.value();
  Occupancy occupancy(valuation, plan.machines);
  occupancy.take(on(a, 0, 12));
  occupancy.take(on(b, 0, 1));
  EXPECT_DOUBLE_EQ(local_search::return_running_jobs(occupancy, {}), 0.5);
  EXPECT_TRUE(occupancy.is_placed(b));
}

/// A gang holds a place that a running job left. It stays in its rack if it takes the machine of a
/// job that may be anywhere, which takes the place that the running job holds now.
TEST(RunningJobs, gangs_clear_a_machine_of_their_rack) {
  test::InstanceBuilder plan({"A"});
  const PodId pod = plan.pod();
  for (const int machines : {3, 1}) {
    plan.rack(pod);
    plan.add_machines(machines, 0, 4);
  }
  const JobId back = plan.job({.gpus = 4});
  const JobId gang = plan.job({.tasks = 2, .gpus = 4, .spread = {1.0, 1.0, 0.5, 0.5}});
  const JobId single = plan.job({.gpus = 4});
  run(plan, on(back, 0, 15), 0.0, 0.5);
  const planner_model::Valuation valuation = plan.value();
  Occupancy occupancy(valuation, plan.machines);
  occupancy.take(on(back, 3, 15));
  JobPlacement both = on(gang, 0, 15);
  both.tasks.push_back(on(gang, 1, 15).tasks.front());
  occupancy.take(both);
  occupancy.take(on(single, 2, 15));
  EXPECT_DOUBLE_EQ(local_search::return_running_jobs(occupancy, {}), 0.5);
  EXPECT_EQ(occupancy.placed(back).tasks.front().machine, MachineId(0));
  EXPECT_EQ(occupancy.placed(single).tasks.front().machine, MachineId(3));
}

/// A gang has the rack where a running job was; that job and another one are in a second rack, on a
/// machine each.
class TwoRacks : public testing::Test {
 protected:
  TwoRacks() : plan_({"A"}) {
    const PodId pod = plan_.pod();
    for (int r = 0; r < 2; ++r) {
      plan_.rack(pod);
      plan_.add_machines(2, 0, 4);
    }
    back_ = plan_.job({.gpus = 2});
    gang_ = plan_.job({.tasks = 2, .gpus = 4, .spread = {1.0, 1.0, 0.5, 0.5}});
    other_ = plan_.job({.gpus = 1});
    run(plan_, on(back_, 0, 3), 0.0, 0.5);
  }

  void place(Occupancy& occupancy) const {
    occupancy.take(on(back_, 2, 12));
    occupancy.take(
        {.job = gang_, .tasks = {{MachineId(0), 0, 15, 1000}, {MachineId(1), 0, 15, 1000}}});
    occupancy.take(on(other_, 3, 8));
  }

  test::InstanceBuilder plan_;
  JobId back_, gang_, other_;
};

TEST_F(TwoRacks, are_exchanged_when_a_running_job_returns) {
  const planner_model::Valuation valuation = plan_.value();
  Occupancy occupancy(valuation, plan_.machines);
  place(occupancy);
  const double before = occupancy.value();
  EXPECT_DOUBLE_EQ(local_search::return_running_jobs(occupancy, {}), 0.0)
      << "no single return does";
  EXPECT_DOUBLE_EQ(local_search::exchange_gangs(occupancy, {}), 0.5);
  EXPECT_DOUBLE_EQ(occupancy.value(), before + 0.5);
  EXPECT_EQ(occupancy.placed(back_).tasks, on(back_, 0, 3).tasks);
  EXPECT_EQ(occupancy.placed(gang_).tasks.front().machine, MachineId(2));
  EXPECT_EQ(occupancy.placed(other_).tasks, on(other_, 1, 8).tasks)
      << "on the same device of the other machine";
}

TEST_F(TwoRacks, stay_when_another_job_would_lose_as_much) {
  run(plan_, on(other_, 3, 8), 0.0, 0.5);
  const planner_model::Valuation valuation = plan_.value();
  Occupancy occupancy(valuation, plan_.machines);
  place(occupancy);
  EXPECT_DOUBLE_EQ(local_search::exchange_gangs(occupancy, {}), 0.0);
  EXPECT_EQ(occupancy.placed(gang_).tasks.front().machine, MachineId(0));
}

/// The gang has a machine in each rack, as it asks for two racks; the running job left one of them.
TEST(RunningJobs, return_to_machines_of_gangs_that_stay_in_as_many_racks_as_they_ask_for) {
  test::InstanceBuilder plan({"A"});
  const PodId pod = plan.pod();
  for (int r = 0; r < 4; ++r) {
    plan.rack(pod);
    plan.add_machines(r < 2 ? 1 : 2, 0, 4);
  }
  const JobId back = plan.job({.gpus = 2});
  const JobId gang = plan.job({.tasks = 2, .gpus = 4});
  run(plan, on(back, 0, 3), 0.0, 0.5);
  model::Workload& workload = plan.instance.workload;
  workload.rules.push_back({.min_domains = {1, 2, 1}});
  workload.jobs[gang.index()].rules = static_cast<std::uint32_t>(workload.rules.size() - 1);
  const planner_model::Valuation valuation = plan.value();
  Occupancy occupancy(valuation, plan.machines);
  occupancy.take(on(back, 4, 12));
  occupancy.take(
      {.job = gang, .tasks = {{MachineId(0), 0, 15, 1000}, {MachineId(1), 0, 15, 1000}}});
  local_search::exchange_gangs(occupancy, {});
  const auto& tasks = occupancy.placed(gang).tasks;
  EXPECT_NE(plan.instance.cluster.machine_rack[tasks[0].machine.index()],
            plan.instance.cluster.machine_rack[tasks[1].machine.index()]);
}

TEST_F(TwoRacks, stay_when_pinned_content_is_in_the_way) {
  plan_.instance.cluster.immovable = {
      {.machine = MachineId(2), .devices = 1, .milli = 1000, .taken = {}, .job = {}}};
  const planner_model::Valuation valuation = plan_.value();
  Occupancy occupancy(valuation, plan_.machines);
  place(occupancy);
  EXPECT_DOUBLE_EQ(local_search::exchange_gangs(occupancy, {}), 0.0);
}

class AtWork : public testing::TestWithParam<int> {};

/// 16 racks; half of the jobs run where best fit put them in order of their ids.
struct Busy {
  test::InstanceBuilder plan;
  test::InstanceBuilder idle;
  model::Placement present;

  explicit Busy(std::uint64_t seed) : plan(test::mixed_instance(seed, 220)), idle(plan) {
    test::WholeShard s(plan);
    std::vector<JobId> half(plan.jobs.begin(), plan.jobs.begin() + 110);
    s.shard.restore({.unplaced = half});
    fill_idle_capacity(s.shard);
    present = s.shard.placement();
  }
  void run_all(double stop_share, double move_share) {
    const planner_model::Valuation valuation = idle.value();
    for (const JobPlacement& p : present) {
      const double value = valuation.placed(p);
      run(plan, p, stop_share * value, move_share * value);
    }
  }
};

double value_when_idle(const Busy& busy, double price, model::Placement* placement = nullptr) {
  test::WholeShard s(busy.idle);
  plan_all(s, busy.idle, price);
  if (placement != nullptr) *placement = s.shard.placement();
  return s.shard.value();
}

TEST_P(AtWork, free_moves_are_worth_what_waiting_jobs_are) {
  Busy busy(static_cast<std::uint64_t>(GetParam()));
  busy.run_all(0.0, 0.0);
  test::WholeShard s(busy.plan);
  plan_all(s, busy.plan, 2.0);
  EXPECT_GE(s.shard.value(), value_when_idle(busy, 2.0) - 1e-9);
}

TEST_P(AtWork, plans_lose_to_neither_keeping_nor_moving_all) {
  Busy busy(static_cast<std::uint64_t>(GetParam()));
  busy.run_all(0.2, 0.05);
  test::WholeShard s(busy.plan);
  plan_all(s, busy.plan, 2.0);
  double kept = 0.0, moved = 0.0;
  for (const JobPlacement& p : busy.present) kept += s.valuation.placed(p);
  EXPECT_GE(s.shard.value(), kept);
  model::Placement scratch;
  value_when_idle(busy, 2.0, &scratch);
  for (const JobPlacement& p : scratch) moved += s.valuation.placed(p);
  EXPECT_GE(s.shard.value(), moved - 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Seeds, AtWork, testing::Values(1, 2, 3));

}  // namespace
}  // namespace berth::solver
