// SPDX-License-Identifier: Apache-2.0
// Bounds of a cluster at work, by hand: machines that are not free, and jobs that run.
#include "tiny.hpp"

#include <cstdint>

#include <gtest/gtest.h>

#include "berth/certify/bound.hpp"
#include "berth/certify/figures.hpp"

namespace berth::certify {
namespace {

using model::Certificate;
using model::MachineState;
using model::Objective;

/// One rack with `machines` machines of 2 GPUs, 4 cores, 1000 MiB.
test::Tiny one_rack(int machines) {
  test::Tiny tiny;
  const ClassId c = tiny.machine_class("c", tiny.type("A"), 2, 4000, 1000);
  tiny.pod(), tiny.rack();
  for (int m = 0; m < machines; ++m) tiny.machine(c);
  return tiny;
}

/// 1 for a GPU thousandth, CPU thousandth, MiB.
Certificate all_at(std::int64_t gpu, std::int64_t cpu = 0, std::int64_t memory = 0) {
  Certificate prices;
  prices.pools = {{PodId(0), {}, ClassId(0), gpu, {cpu, memory}}};
  return prices;
}

Bound allocation(const test::Tiny& tiny, const Certificate& prices) {
  return upper_bound(tiny.instance, Objective::allocate, prices, {});
}

TEST(LiveBound, leaves_out_machines_where_nothing_may_start) {
  test::Tiny tiny = one_rack(3);
  for (int i = 0; i < 9; ++i) tiny.job({{.gpus = 2, .cpu_milli = 1000}});
  tiny.job({{.cpu_milli = 4000}});
  tiny.state(MachineId(1), MachineState::drained);
  tiny.state(MachineId(2), MachineState::reserved);
  EXPECT_EQ(allocation(tiny, all_at(1)).machines, 2000);
  EXPECT_EQ(allocation(tiny, all_at(1, 1, 1)).machines, 4000) << "2 GPUs and 1 core, or 4 cores";
  tiny.state(MachineId(0), MachineState::drained);
  EXPECT_EQ(allocation(tiny, {}).zero_price, 0);
  tiny.job({{}});  // asks for nothing, yet must lie on a machine
  tiny[tiny.job({{}})].value = 5.0;
  EXPECT_EQ(upper_bound(tiny.instance, Objective::value, {}, {}).value, 0.0);
  Certificate prices;
  prices.shapes = {{ShapeId(2), GpuTypeId(0), 7}};
  EXPECT_EQ(allocation(tiny, prices).machines, 0);
}

/// Shares of 300: three on the free device, one on the 400 thousandths that are left of the other.
TEST(LiveBound, fills_partly_used_devices_one_by_one) {
  test::Tiny tiny = one_rack(1);
  tiny.job({{.count = 4, .gpu_milli = 300}});
  for (int i = 0; i < 9; ++i) tiny.job({{.gpu_milli = 300}});
  tiny.use({.machine = MachineId(0), .devices = 2, .milli = 600});
  EXPECT_EQ(allocation(tiny, all_at(1)).machines, 900 + 300);
  EXPECT_EQ(allocation(tiny, {}).zero_price, 1200 + 9 * 300) << "four fit";
  tiny.use({.machine = MachineId(0), .devices = 2, .milli = 101});  // 299 are left
  EXPECT_EQ(allocation(tiny, all_at(1)).machines, 900);
  EXPECT_EQ(allocation(tiny, {}).zero_price, 9 * 300) << "four do not fit";
  tiny.use({.machine = MachineId(0), .devices = 1, .milli = 1000});
  EXPECT_EQ(allocation(tiny, all_at(1)).machines, 0);
  EXPECT_EQ(allocation(tiny, {}).zero_price, 0) << "no room for one";
}

TEST(LiveBound, fills_every_partly_used_device) {
  test::Tiny tiny = one_rack(1);
  for (int i = 0; i < 9; ++i) tiny.job({{.gpu_milli = 300}});
  tiny.use({.machine = MachineId(0), .devices = 1, .milli = 300});
  tiny.use({.machine = MachineId(0), .devices = 2, .milli = 600});
  EXPECT_EQ(allocation(tiny, all_at(1)).machines, 600 + 300);
}

/// Two devices of which each has 700 left hold no task of two devices, and none of one.
TEST(LiveBound, gives_whole_devices_to_tasks_of_whole_devices) {
  test::Tiny tiny = one_rack(1);
  tiny.job({{.gpus = 1}});
  tiny.job({{.gpus = 2}});
  tiny.job({{.count = 2, .gpus = 1}});
  tiny.use({.machine = MachineId(0), .devices = 2, .milli = 300});
  EXPECT_EQ(allocation(tiny, all_at(1)).machines, 1000);
  EXPECT_EQ(allocation(tiny, {}).zero_price, 1000) << "only the small one fits";
  tiny.use({.machine = MachineId(0), .devices = 1, .milli = 300});
  EXPECT_EQ(allocation(tiny, all_at(1)).machines, 0);
  EXPECT_EQ(allocation(tiny, {}).zero_price, 0);
}

/// 4 cores of which 1500 thousandths are used: the rest holds two tasks of one core, if there are
/// so many.
TEST(LiveBound, charges_for_the_cpu_and_memory_that_are_left) {
  test::Tiny tiny = one_rack(1);
  tiny[tiny.job({{.cpu_milli = 1000}})].value = 1.0;
  tiny[tiny.job({{.cpu_milli = 3000}})].value = 1.0;
  tiny.use({.machine = MachineId(0), .taken = {1500, 100}});
  EXPECT_EQ(allocation(tiny, all_at(0, 1)).machines, 1000);
  EXPECT_EQ(allocation(tiny, all_at(0, 0, 1)).machines, 0) << "no task needs memory";
  Certificate prices;
  prices.shapes = {{ShapeId(0), GpuTypeId(0), 10}};
  EXPECT_EQ(allocation(tiny, prices).machines, 10);
  EXPECT_EQ(upper_bound(tiny.instance, Objective::value, {}, {}).value, 1.0)
      << "3 cores fit nowhere";
  for (int i = 0; i < 9; ++i) tiny.job({{.cpu_milli = 1000}});
  EXPECT_EQ(allocation(tiny, prices).machines, 20);
}

/// Racks are alike when their machines have the same room, in whatever way it was used.
TEST(LiveBound, finds_the_cheapest_room_beside_what_lies_there) {
  test::Tiny tiny = one_rack(1);
  tiny.rack(), tiny.machine(ClassId(0));
  tiny[tiny.job({{.gpus = 2}})].value = 10.0;
  Certificate prices;
  prices.level = model::Level::rack;
  prices.pools = {{PodId(0), RackId(1), ClassId(0), 0, {0, 0}},
                  {PodId(0), RackId(0), ClassId(0), 1, {0, 0}}};
  prices.scale_log2 = 10;
  const auto jobs = [&] { return upper_bound(tiny.instance, Objective::value, prices, {}).jobs; };
  EXPECT_EQ(jobs(), 10 * 1024);
  tiny.use({.machine = MachineId(1), .devices = 1, .milli = 10});
  EXPECT_EQ(jobs(), 10 * 1024 - 2000) << "only the dear machine holds it";
}

TEST(LiveBound, allocates_no_more_than_is_free) {
  test::Tiny tiny = one_rack(2);
  for (int i = 0; i < 9; ++i) tiny.job({{.gpu_milli = 300}});
  tiny.use({.machine = MachineId(0), .devices = 1, .milli = 50});
  tiny.use({.machine = MachineId(0), .devices = 2, .milli = 1000});
  tiny.state(MachineId(1), MachineState::reserved);
  EXPECT_EQ(allocation(tiny, {}).capacity, 950);
  EXPECT_EQ(allocation(tiny, {}).value, 950.0);
}

TEST(LiveBound, does_not_count_pinned_jobs) {
  test::Tiny tiny = one_rack(1);
  const JobId pinned = tiny.job({{.gpu_milli = 500}});
  tiny[pinned].required = true;
  tiny.job({{.gpu_milli = 600}});
  tiny.pin(pinned, {{MachineId(0), 0, 1, 500}});
  const Bound b = allocation(tiny, all_at(1));
  EXPECT_EQ(b.zero_price, 600);
  EXPECT_EQ(b.machines, 600) << "no other job has shares of 500";
  EXPECT_EQ(job_profits(tiny.instance, Objective::allocate, {})[0], 0.0);
  EXPECT_TRUE(required_missing(tiny.instance, {}).empty());
  Certificate prices;
  tiny.instance.workload.shapes[0] = {.gpus = 1};
  prices.jobs = {{pinned, 1}};
  EXPECT_NE(unusable(tiny.instance, Objective::allocate, prices), "");
}

/// Whole jobs at their own price are chosen on free devices only, the rest is worth what it is.
TEST(LiveBound, fills_free_devices_with_whole_jobs) {
  test::Tiny tiny = one_rack(2);
  for (int i = 0; i < 4; ++i) tiny.job({{.gpus = 1}});
  tiny.job({{.gpu_milli = 500}});
  tiny.use({.machine = MachineId(0), .devices = 1, .milli = 500});
  tiny.use({.machine = MachineId(1), .devices = 3, .milli = 1000});
  Certificate prices = all_at(1);
  for (int j = 0; j < 4; ++j) prices.jobs.push_back({JobId(j), 0});
  EXPECT_EQ(allocation(tiny, prices).machines, 1000 + 500);
  tiny.state(MachineId(0), MachineState::drained);
  EXPECT_EQ(allocation(tiny, prices).machines, 0);
}

/// Every machine has one free device, so two workers lie on two machines.
TEST(LiveBound, values_a_gang_where_it_fits) {
  test::Tiny tiny = one_rack(2);
  model::Job& gang = tiny[tiny.job({{.count = 2, .gpus = 1}})];
  gang.value = 8.0;
  gang.width_factor = tiny.factors({1.0, 0.5, 0.5, 0.5});
  tiny.use({.machine = MachineId(0), .devices = 1, .milli = 1000});
  tiny.use({.machine = MachineId(1), .devices = 1, .milli = 1000});
  Certificate prices;
  prices.jobs = {{JobId(0), 0}};
  const Bound b = upper_bound(tiny.instance, Objective::value, prices, {});
  EXPECT_EQ(b.machines, 4);
  EXPECT_EQ(b.zero_price, 4);
}

/// j0 (1 GPU, worth 10) runs in rack-0; racks 0 and 1 have two machines of one GPU each.
class RunningJob : public testing::Test {
 protected:
  RunningJob() {
    const ClassId c = tiny.machine_class("c", tiny.type("A"), 1, 4000, 1000);
    tiny.pod(), tiny.rack(), tiny.machine(c), tiny.machine(c);
    tiny.rack(), tiny.machine(c), tiny.machine(c);
    tiny[tiny.job({{.gpus = 1, .memory_mib = 1}})].value = 10.0;
    running = &tiny.run(JobId(0), {{MachineId(0), 0, 1, 1000}});
  }
  /// What is left to jobs at these prices of a job in rack 0 and 1.
  std::int64_t jobs(std::int64_t rack0, std::int64_t rack1) {
    return static_cast<std::int64_t>(
        upper_bound(tiny.instance, Objective::value, priced(rack0, rack1), {}).jobs);
  }
  static Certificate priced(std::int64_t rack0, std::int64_t rack1) {
    Certificate prices;
    prices.level = model::Level::rack;
    prices.pools = {{PodId(0), RackId(0), ClassId(0), 0, {0, rack0}},
                    {PodId(0), RackId(1), ClassId(0), 0, {0, rack1}}};
    return prices;
  }
  double worth(const model::Placement& placement, Objective kind = Objective::value) {
    return objective(tiny.instance, kind, placement).value;
  }
  static model::Placement on(int machine) {
    return {{JobId(0), 0, {{MachineId(machine), 0, 1, 1000}}}};
  }
  test::Tiny tiny;
  model::Running* running;
};

TEST_F(RunningJob, is_worth_less_elsewhere_and_costs_when_stopped) {
  running->move_cost = 3.0;
  running->stop_cost = 2.0;
  EXPECT_EQ(worth(on(0)), 10.0);
  EXPECT_EQ(worth(on(1)), 7.0);
  EXPECT_EQ(worth({}), -2.0);
  EXPECT_EQ(worth({}, Objective::allocate), 0.0);
  EXPECT_EQ(worth(on(1), Objective::allocate), 1000.0);
  running->pinned = true;
  EXPECT_EQ(worth({}), 0.0);
}

TEST_F(RunningJob, stays_when_it_lies_on_the_same_devices) {
  running->move_cost = 3.0;
  tiny.instance.cluster.classes[0].gpus = 4;
  tiny.instance.workload.groups[0].count = 2;
  tiny.instance.workload.running_tasks = {{MachineId(0), 0, 1, 1000}, {MachineId(1), 0, 2, 1000}};
  running->tasks = 2;
  const auto two = [&](MachineId a, std::uint64_t on_a, MachineId b, std::uint64_t on_b) {
    return worth({{JobId(0), 0, {{a, 0, on_a, 1000}, {b, 0, on_b, 1000}}}});
  };
  EXPECT_EQ(two(MachineId(0), 1, MachineId(1), 2), 10.0);
  EXPECT_EQ(two(MachineId(1), 2, MachineId(0), 1), 10.0) << "in whatever order";
  EXPECT_EQ(two(MachineId(0), 2, MachineId(1), 1), 7.0);
}

TEST_F(RunningJob, weighs_staying_against_moving_and_stopping) {
  running->move_cost = 3.0;
  EXPECT_EQ(jobs(5, 0), 7) << "moves";
  EXPECT_EQ(jobs(5, 4), 5) << "stays, and pays for rack-0, not for the cheapest";
  EXPECT_EQ(jobs(2, 0), 8);
  EXPECT_EQ(jobs(20, 20), 0) << "stops";
  running->stop_cost = 2.0;
  EXPECT_EQ(jobs(5, 4), 5);
  EXPECT_EQ(jobs(20, 20), -2);
  EXPECT_EQ(jobs(11, 20), -1) << "stays at a loss";
  EXPECT_EQ(upper_bound(tiny.instance, Objective::value, {}, {}).zero_price, 10);
  const std::vector<JobId> required{JobId(0)};
  const auto must = [&](std::int64_t rack0, std::int64_t rack1) {
    const Certificate prices = priced(rack0, rack1);
    return upper_bound(tiny.instance, Objective::value, prices, required).jobs;
  };
  EXPECT_EQ(must(20, 20), -10) << "has to stay";
  EXPECT_EQ(must(20, 16), -9) << "or to move";
  EXPECT_EQ(upper_bound(tiny.instance, Objective::allocate, priced(0, 0), {}).jobs, 1000);
}

/// Both machines of rack-0 go to others at 20 each.
TEST_F(RunningJob, is_pushed_out_at_its_costs) {
  running->move_cost = 3.0;
  running->stop_cost = 2.0;
  tiny.instance.cluster.machine_state.assign(4, MachineState::up);
  tiny.state(MachineId(2), MachineState::drained);
  tiny.state(MachineId(3), MachineState::drained);
  for (int i = 0; i < 2; ++i) tiny[tiny.job({{.gpus = 1, .memory_mib = 1}})].value = 30.0;
  Certificate prices = priced(0, 0);
  prices.shapes = {{ShapeId(0), GpuTypeId(0), 20}};
  EXPECT_EQ(upper_bound(tiny.instance, Objective::value, prices, {}).value, 2 * 30 - 2);
  tiny.state(MachineId(2), MachineState::up);
  prices.shapes[0].price = 8;
  EXPECT_EQ(upper_bound(tiny.instance, Objective::value, prices, {}).value,
            3 * 8 + (10 - 8) + 2 * 22);
  prices.shapes[0].price = 12;
  EXPECT_EQ(upper_bound(tiny.instance, Objective::value, prices, {}).value, 3 * 12 + 2 * 18 - 2);
}

/// Two jobs of 1 GPU on two machines of 2; a task of 2 GPUs needs one of them moved: 2 + 2 - 0.5
/// + 2.
TEST(LiveBound, knows_that_a_job_that_stays_takes_room_from_large_tasks) {
  test::Tiny tiny = one_rack(2);
  for (const int m : {0, 1}) {
    const JobId job = tiny.job({{.gpus = 1}});
    tiny[job].value = 2.0;
    model::Running& running = tiny.run(job, {{MachineId(m), 0, 1, 1000}});
    running.stop_cost = 1.0, running.move_cost = 0.5;
  }
  tiny[tiny.job({{.gpus = 2}})].value = 2.0;
  Certificate prices;
  prices.scale_log2 = 1;
  const auto bound = [&] { return upper_bound(tiny.instance, Objective::value, prices, {}).value; };
  EXPECT_EQ(bound(), 6.0);
  prices.shapes = {{ShapeId(1), GpuTypeId(0), 1}};
  EXPECT_EQ(bound(), 5.5);
  prices.shapes[0].price = 2;
  EXPECT_EQ(bound(), 6.0);
}

/// Four machines of 2 GPUs. Jobs with a task of 1 GPU on each of some machines run; a job waits for
/// whole machines.
struct StayingJobs : testing::Test {
  test::Tiny tiny = one_rack(4);
  Certificate prices;

  JobId run(double value, std::initializer_list<int> machines) {
    const auto count = static_cast<std::int32_t>(machines.size());
    const JobId job = tiny.job({{.count = count, .gpus = 1}});
    tiny[job].value = value;
    std::vector<model::TaskPlacement> tasks;
    for (const int m : machines) {
      std::uint32_t devices = 1;
      for (const auto& t : tiny.instance.workload.running_tasks) {
        if (t.machine == MachineId(m)) devices = 2;
      }
      tasks.push_back({MachineId(m), 0, devices, 1000});
    }
    model::Running& running = tiny.run(job, tasks);
    running.stop_cost = 1.0, running.move_cost = 100.0;
    return job;
  }
  std::vector<JobId> staying() {
    const std::vector<JobId> jobs = model::planned_jobs(tiny.instance.workload);
    const JobFacts facts = job_facts(tiny.instance, Objective::value, jobs);
    const JobBests bests = job_bests(tiny.instance, Objective::value, prices, facts, jobs);
    const JobTerms terms = job_terms(tiny.instance, prices, jobs, bests, {});
    return staying_jobs(tiny.instance, Objective::value, prices, facts, terms.stays);
  }
};

TEST_F(StayingJobs, are_those_that_earn_more_than_their_room) {
  for (int m = 0; m < 4; ++m) run(1.0 + m, {m});
  tiny.job({{.count = 2, .gpus = 2}});
  prices.shapes = {{ShapeId(0), GpuTypeId(0), 1}, {ShapeId(1), GpuTypeId(0), 5}};
  // staying earns value + 1 over being stopped, and a GPU less for others costs 5 - 1
  EXPECT_EQ(staying(), (std::vector<JobId>{JobId(3)}));
  prices.shapes[1].price = 2;
  EXPECT_EQ(staying().size(), 4U);
}

/// A gang that one of its machines does not keep leaves the other one, too, which then holds a task
/// of two GPUs in place of the small job beside it.
TEST_F(StayingJobs, stay_on_all_of_their_machines) {
  const JobId gang = run(6.0, {0, 1});
  const JobId beside = run(0.25, {0});
  const JobId better = run(9.0, {1});
  tiny.job({{.gpus = 2}});
  prices.scale_log2 = 4;
  prices.shapes = {{ShapeId(0), GpuTypeId(0), 16}, {ShapeId(1), GpuTypeId(0), 40}};
  EXPECT_EQ(staying(), (std::vector<JobId>{gang, beside, better}));
  const auto content = JobId(tiny.instance.workload.size());
  tiny.use({.machine = MachineId(1), .devices = 2, .milli = 1000, .job = content});
  EXPECT_EQ(staying(), (std::vector<JobId>{better})) << "one device is left there";
}

/// Another is at home where it runs (30, 0 elsewhere) and pushes it to rack-1: 30 + 9.5.
TEST_F(RunningJob, rounds_the_bound_to_integers_only_when_costs_are) {
  for (const int m : {1, 3}) tiny.use({.machine = MachineId(m), .devices = 1, .milli = 1000});
  tiny.instance.cluster.classes[0].capacity[model::kMemory] = 1;
  tiny.instance.cluster.immovable[0].taken[model::kMemory] = 1;
  tiny.instance.cluster.immovable[1].taken[model::kMemory] = 1;
  model::Job& other = tiny[tiny.job({{.gpus = 1, .memory_mib = 1}})];
  other.value = 30.0;
  other.home_rack = RackId(0);
  other.home_factor = tiny.factors({1.0, 1.0, 0.0, 0.0});
  Certificate prices = priced(10, 0);  // in halves
  prices.scale_log2 = 1;
  const auto bound = [&] { return upper_bound(tiny.instance, Objective::value, prices, {}).value; };
  running->move_cost = 0.5;
  EXPECT_EQ(bound(), 39.5);
  running->move_cost = 1.0;
  EXPECT_EQ(bound(), 39.0);
  for (const int m : {0, 2}) tiny.state(MachineId(m), MachineState::drained);
  running->move_cost = 0.0;  // it may not stay either, which no reader would let through
  running->stop_cost = 0.5;
  EXPECT_EQ(bound(), -0.5);
}

TEST_F(RunningJob, with_a_price_of_its_own_stays_in_its_rack) {
  running->move_cost = 3.0;
  running->stop_cost = 2.0;
  for (int i = 0; i < 2; ++i) tiny[tiny.job({{.gpus = 1, .memory_mib = 1}})].value = 11.0;
  Certificate prices;
  for (int j = 0; j < 3; ++j) prices.jobs.push_back({JobId(j), 0});
  const auto at = [&](std::int64_t price) {
    prices.jobs[0].price = price;
    return upper_bound(tiny.instance, Objective::value, prices, {}).machines;
  };
  // rack-0: 12 (stays) + 11; rack-1: 11 + 11. Gains are over being stopped.
  EXPECT_EQ(at(0), 12 + 11 + 11 + 11);
  EXPECT_EQ(at(1), 11 + 11 + 11 + 11);
  EXPECT_EQ(upper_bound(tiny.instance, Objective::value, prices, {}).jobs, 1 - 2);
  for (int j = 1; j < 3; ++j) prices.jobs[static_cast<std::size_t>(j)].price = 11;
  EXPECT_EQ(at(0), 12 + 9) << "once in each rack, as stayed and as moved";
}

TEST_F(RunningJob, stays_over_racks_and_over_pods) {
  tiny.pod(), tiny.rack(), tiny.machine(ClassId(0));
  running->move_cost = 3.0;
  tiny.instance.workload.groups[0].count = 2;
  tiny[JobId(0)].width_factor = tiny.factors({1.0, 1.0, 0.5, 0.5});
  for (const int m : {1, 3, 4}) tiny.use({.machine = MachineId(m), .devices = 1, .milli = 1000});
  tiny.state(MachineId(4), MachineState::up);
  Certificate prices;
  prices.jobs = {{JobId(0), 0}};
  const auto staying = [&](int second) {
    tiny.instance.workload.running_tasks = {{MachineId(0), 0, 1, 1000},
                                            {MachineId(second), 0, 1, 1000}};
    running->tasks = 2;
    return upper_bound(tiny.instance, Objective::value, prices, {}).machines;
  };
  EXPECT_EQ(staying(2), 5) << "over the racks of pod-0";
  tiny.instance.cluster.immovable.clear();
  for (const int m : {1, 2, 3}) tiny.use({.machine = MachineId(m), .devices = 1, .milli = 1000});
  EXPECT_EQ(staying(4), 5) << "over the pods";
}

}  // namespace
}  // namespace berth::certify
