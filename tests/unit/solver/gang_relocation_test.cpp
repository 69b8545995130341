// SPDX-License-Identifier: Apache-2.0
// Gangs change their GPU type when others gain more by the room that they leave.
#include "local_search/gang_relocation.hpp"

#include "shard_builder.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace berth::solver {
namespace {

using test::on;

constexpr double kAnyLoss = std::numeric_limits<double>::infinity();

/// Two machines of type A, which a gang has, and two of type B. One job is on B that is worth four
/// times as much on A, beside one of little value; another one waits for A.
class GangRelocation : public testing::Test {
 protected:
  GangRelocation() : plan_({"A", "B"}) {
    const PodId pod = plan_.pod();
    for (int type = 0; type < 2; ++type) {
      plan_.rack(pod);
      plan_.add_machines(2, type, 4);
    }
    gang_ = plan_.job({.tasks = 2, .gpus = 4, .weight = 1.25, .speed = {1.0, 0.75}});
    fast_ = plan_.job({.gpus = 4, .weight = 2.0, .speed = {1.0, 0.25}});
    cheap_ = plan_.job({.gpus = 4, .weight = 0.75});
    waiting_ = plan_.job({.gpus = 4, .weight = 1.5, .types = 1});
  }

  void place(Occupancy& occupancy) const {
    occupancy.admit(plan_.jobs);
    occupancy.take(
        {.job = gang_, .tasks = {{MachineId(0), 0, 15, 1000}, {MachineId(1), 0, 15, 1000}}});
    occupancy.take(on(fast_, 2, 15));
    occupancy.take(on(cheap_, 3, 15));
  }

  double relocate(Occupancy& occupancy, double slack) const {
    const planner_model::Pools pools = plan_.pools();
    std::vector<double> prices(pools.size(), 0.75);
    prices.front() = 1.25;  // type A
    return local_search::relocate_gangs(
        occupancy, {occupancy.valuation(), nullptr, {pools, prices}}, slack, {});
  }

  test::InstanceBuilder plan_;
  JobId gang_, fast_, cheap_, waiting_;
};

TEST_F(GangRelocation, gives_its_machines_to_jobs_that_gain_more_by_them) {
  const planner_model::Valuation valuation = plan_.value();
  Occupancy occupancy(valuation, plan_.machines);
  place(occupancy);
  EXPECT_DOUBLE_EQ(occupancy.value(), 10.0 + 2.0 + 3.0);
  EXPECT_DOUBLE_EQ(relocate(occupancy, kAnyLoss), 7.5 + 8.0 + 6.0 - 15.0);
  EXPECT_DOUBLE_EQ(occupancy.value(), 21.5);
  EXPECT_GE(occupancy.placed(gang_).tasks.front().machine, MachineId(2));
  EXPECT_LT(occupancy.placed(fast_).tasks.front().machine, MachineId(2));
  EXPECT_TRUE(occupancy.is_placed(waiting_));
  EXPECT_FALSE(occupancy.is_placed(cheap_));
}

/// Two more machines of type B are idle: the job that gains on A leaves its place on B for the
/// gang's room, although nobody takes it from it.
TEST_F(GangRelocation, gives_its_machines_to_placed_jobs_of_other_types) {
  plan_.rack(PodId(0));
  plan_.add_machines(2, 1, 4);
  const planner_model::Valuation valuation = plan_.value();
  Occupancy occupancy(valuation, plan_.machines);
  place(occupancy);
  EXPECT_DOUBLE_EQ(relocate(occupancy, kAnyLoss), 7.5 + 8.0 + 6.0 + 3.0 - 15.0);
  EXPECT_LT(occupancy.placed(fast_).tasks.front().machine, MachineId(2));
}

/// The gang waits: it takes the room of the cheap job and of the one that gains on type A.
TEST_F(GangRelocation, lets_a_waiting_gang_in) {
  const planner_model::Valuation valuation = plan_.value();
  Occupancy occupancy(valuation, plan_.machines);
  occupancy.admit(plan_.jobs);
  occupancy.take(on(fast_, 2, 15));
  occupancy.take(on(cheap_, 3, 15));
  occupancy.take(on(waiting_, 0, 15));
  EXPECT_DOUBLE_EQ(relocate(occupancy, kAnyLoss), 7.5 + 8.0 + 6.0 - (2.0 + 3.0 + 6.0));
  EXPECT_GE(occupancy.placed(gang_).tasks.front().machine, MachineId(2));
  EXPECT_FALSE(occupancy.is_placed(cheap_));
}

/// The waiting job and a second one like it are worth more than the gang, on type A alone.
TEST_F(GangRelocation, takes_a_gang_out_for_others) {
  plan_.instance.workload.jobs[gang_.index()].gpu_types = 1;
  const JobId second = plan_.job({.gpus = 4, .weight = 1.5, .types = 1});
  const planner_model::Valuation valuation = plan_.value();
  Occupancy occupancy(valuation, plan_.machines);
  place(occupancy);
  occupancy.give_back(fast_);
  occupancy.forget(fast_);
  EXPECT_DOUBLE_EQ(relocate(occupancy, kAnyLoss), 6.0 + 6.0 - 10.0);
  EXPECT_FALSE(occupancy.is_placed(gang_));
  EXPECT_TRUE(occupancy.is_placed(waiting_) && occupancy.is_placed(second));
}

TEST_F(GangRelocation, leaves_required_jobs_where_they_are) {
  plan_.instance.workload.jobs[gang_.index()].required = true;
  const planner_model::Valuation valuation = plan_.value();
  Occupancy occupancy(valuation, plan_.machines);
  place(occupancy);
  EXPECT_DOUBLE_EQ(relocate(occupancy, kAnyLoss), 0.0);
  EXPECT_EQ(occupancy.placed(gang_).tasks.front().machine, MachineId(0));
}

TEST_F(GangRelocation, changes_nothing_without_a_gain) {
  plan_.instance.workload.jobs[waiting_.index()].weight = 0.25;
  plan_.instance.workload.jobs[fast_.index()].weight = 0.25;
  const planner_model::Valuation valuation = plan_.value();
  Occupancy occupancy(valuation, plan_.machines);
  place(occupancy);
  EXPECT_DOUBLE_EQ(relocate(occupancy, kAnyLoss), 0.0);
  EXPECT_EQ(occupancy.placed(gang_).tasks.front().machine, MachineId(0));
  EXPECT_EQ(occupancy.placed(fast_).tasks, on(fast_, 2, 15).tasks);
  EXPECT_EQ(occupancy.placed(cheap_).tasks, on(cheap_, 3, 15).tasks);
}

/// At the prices the gang gains 0.875 on B: 9.375 - 6 in place of 12.5 - 10.
TEST_F(GangRelocation, is_not_tried_beyond_what_the_plan_may_gain) {
  plan_.instance.workload.jobs[gang_.index()].weight = 1.5625;
  const planner_model::Valuation valuation = plan_.value();
  Occupancy occupancy(valuation, plan_.machines);
  place(occupancy);
  Occupancy same = occupancy;
  EXPECT_DOUBLE_EQ(relocate(occupancy, -1.0), 0.0);
  EXPECT_GT(relocate(same, 2.0), 0.0);
}

}  // namespace
}  // namespace berth::solver
