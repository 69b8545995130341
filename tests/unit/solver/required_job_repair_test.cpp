// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/required_job_repair.hpp"

#include "tiny.hpp"

#include <gtest/gtest.h>

#include "berth/planner_model/room.hpp"

namespace berth::solver {
namespace {

using model::JobPlacement;
using model::Placement;

/// Machines of 2 and 1 GPUs in one rack, and a job of one GPU on each.
struct RequiredJobRepair : testing::Test {
  test::Tiny tiny;
  MachineId two, one;
  JobId narrow, cheap;
  Placement placed;

  void SetUp() override {
    const GpuTypeId gpu = tiny.type("X");
    const ClassId large = tiny.machine_class("large", gpu, 2, 8000, 8000);
    const ClassId small = tiny.machine_class("small", gpu, 1, 8000, 8000);
    tiny.pod();
    tiny.rack();
    two = tiny.machine(large);
    one = tiny.machine(small);
    narrow = tiny.job({{.gpus = 1}});
    cheap = tiny.job({{.gpus = 1}});
  }

  void place(JobId job, MachineId machine) {
    planner_model::Room room(tiny.instance.cluster);
    for (const JobPlacement& p : placed) planner_model::take(room, tiny.instance.workload, p);
    placed.push_back(*planner_model::place_job(room, tiny.instance.workload, job, {{machine}}));
  }
  bool repair(const RequiredJobRepairOptions& options = {}) {
    const planner_model::Valuation valuation(tiny.instance, model::Objective::value);
    return repair_required_jobs(valuation, nullptr, placed, options);
  }
  [[nodiscard]] MachineId where(JobId job) const {
    for (const JobPlacement& p : placed) {
      if (p.job == job) return p.tasks.front().machine;
    }
    return {};
  }
};

TEST_F(RequiredJobRepair, moves_one_required_job_and_stops_another_for_a_second) {
  const JobId wide = tiny.job({{.gpus = 2}});
  tiny[narrow].required = tiny[wide].required = true;
  place(narrow, two);
  place(cheap, one);
  ASSERT_TRUE(repair());
  EXPECT_EQ(where(wide), two);
  EXPECT_EQ(where(narrow), one);
  EXPECT_FALSE(where(cheap).valid());
}

TEST_F(RequiredJobRepair, leaves_the_others_where_they_are_when_there_is_room) {
  const MachineId spare = tiny.machine(ClassId(0));  // idle room to place a job anew: not here
  const JobId late = tiny.job({{.gpus = 1}});
  tiny[late].required = true;
  place(narrow, two);
  place(cheap, spare);
  ASSERT_TRUE(repair());
  EXPECT_TRUE(where(late).valid());
  EXPECT_EQ(where(narrow), two);
  EXPECT_EQ(where(cheap), spare);
}

TEST_F(RequiredJobRepair, changes_nothing_without_a_way) {
  const JobId wide = tiny.job({{.gpus = 2}});
  for (const JobId job : {narrow, cheap, wide}) tiny[job].required = true;
  place(narrow, two);
  place(cheap, one);
  EXPECT_FALSE(repair());
  EXPECT_EQ(where(narrow), two);
  EXPECT_EQ(where(cheap), one);
}

TEST_F(RequiredJobRepair, keeps_to_its_limits) {
  const JobId wide = tiny.job({{.gpus = 2}});
  tiny[narrow].required = tiny[wide].required = true;
  place(narrow, two);
  EXPECT_FALSE(repair({.machines = 1}));
  EXPECT_FALSE(repair({.steps = 1}));
  EXPECT_TRUE(repair({.machines = 2, .steps = 2}));
}

TEST_F(RequiredJobRepair, has_nothing_to_do_when_no_required_job_waits) {
  tiny[narrow].required = true;
  place(narrow, two);
  EXPECT_FALSE(repair());  // though `cheap` could be let in
  EXPECT_FALSE(where(cheap).valid());
}

}  // namespace
}  // namespace berth::solver
