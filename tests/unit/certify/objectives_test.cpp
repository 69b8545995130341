// SPDX-License-Identifier: Apache-2.0
// Planner and judge compute one value for every objective of the table, each in
// code of its own.
#include "tiny.hpp"

#include <gtest/gtest.h>

#include "berth/certify/figures.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::certify {
namespace {

using test::Tiny;

class Objectives : public testing::TestWithParam<model::ObjectiveTraits> {};

TEST_P(Objectives, planner_and_judge_agree_on_the_worth_of_a_placement) {
  Tiny tiny;
  const GpuTypeId fast = tiny.type("fast");
  const ClassId c = tiny.machine_class("c", fast, 4, 8000, 1000);
  tiny.pod();
  for (int r = 0; r < 2; ++r) {
    tiny.rack();
    tiny.machine(c);
  }
  const JobId stated = tiny.job({{.gpus = 1}});
  const JobId weighted = tiny.job({{.count = 2, .gpus = 2}});
  const JobId moved = tiny.job({{.gpu_milli = 500}});
  model::Workload& workload = tiny.instance.workload;
  workload.speed_types = 1;
  workload.speeds = {1.0, 1.5};
  workload.factors.push_back({1.0, 1.0, 0.75, 0.5});
  tiny[stated].value = 40.0;
  tiny[weighted].weight = 3.0;
  tiny[weighted].speed = 1;
  tiny[weighted].home_rack = RackId(0);
  tiny[weighted].home_factor = tiny[weighted].width_factor = 1;
  model::Running& running = tiny.run(moved, {{MachineId(0), 0, 1, 500}});
  running.stop_cost = 6.0;
  running.move_cost = 2.0;

  const model::Placement placement{
      {.job = stated, .tasks = {{MachineId(0), 0, 8, 1000}}},
      {.job = weighted, .tasks = {{MachineId(0), 0, 6, 1000}, {MachineId(1), 0, 3, 1000}}},
      {.job = moved, .tasks = {{MachineId(1), 0, 4, 500}}}};
  const model::Objective kind = *model::parse_objective(GetParam().name);
  const planner_model::Valuation valuation(tiny.instance, kind);
  double planned = -valuation.stop_costs();
  for (const model::JobPlacement& placed : placement) planned += valuation.placed(placed);
  EXPECT_DOUBLE_EQ(planned, recount(tiny.instance, kind, placement).objective);
  EXPECT_GT(planned, 0.0);
}

INSTANTIATE_TEST_SUITE_P(All, Objectives, testing::ValuesIn(model::kObjectives),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace berth::certify
