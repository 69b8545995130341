// SPDX-License-Identifier: Apache-2.0
#include "berth/report/summary.hpp"

#include <gtest/gtest.h>

namespace berth::report {
namespace {

model::Figures figures(double objective, double upper_bound) {
  model::Figures f;
  f.objective = objective;
  f.upper_bound = upper_bound;
  f.gap = (upper_bound - objective) / upper_bound;
  return f;
}

TEST(GapText, names_every_part_that_can_be_seen) {
  const model::GapParts parts{
      .regret = {{.gpus = 0, .jobs = 9, .amount = 0.0001},
                 {.gpus = 1, .jobs = 3, .amount = 1.0},
                 {.gpus = 64, .jobs = 2, .amount = 4.0}},
      .idle = {{.gpu_type = "A", .amount = 2.0}, {.gpu_type = "", .amount = 0.5}},
      .limits = {1.5, 0.5},
      .whole_jobs = 0.5,
      .rounding = 0.0};
  EXPECT_EQ(gap_text(parts, figures(90.0, 100.0)),
            "  of the gap    50.0 % regret: 1 GPU or less 10.0 % (3 jobs),\n"
            "                up to 64 GPUs 40.0 % (2 jobs)\n"
            "                25.0 % idle or below its price: A 20.0 %,\n"
            "                machines without GPUs 5.0 %\n"
            "                15.0 % quotas\n"
            "                5.0 % uplinks\n"
            "                5.0 % choice of whole jobs\n");
}

TEST(GapText, starts_with_the_first_part_there_is) {
  model::GapParts parts;
  parts.limits[index_of(model::LimitKind::gpu_quota)] = 2.0;
  EXPECT_EQ(gap_text(parts, figures(1.0, 3.0)), "  of the gap    100.0 % quotas\n");
  EXPECT_EQ(gap_text(parts, figures(3.0, 3.0)), "");
}

// Without the last lines 125 % could not be read.
TEST(GapText, shows_the_parts_that_offset_others) {
  model::GapParts parts;
  parts.idle = {{.gpu_type = "A", .amount = -2.5}};
  parts.limits[index_of(model::LimitKind::power)] = 12.5;
  EXPECT_EQ(gap_text(parts, figures(90.0, 100.0)),
            "  of the gap    -25.0 % idle or below its price: A -25.0 %\n"
            "                125.0 % power budgets\n"
            "                negative shares offset the others: the sum is 100 %\n");
}

TEST(GapText, has_no_parts_of_a_gap_that_is_printed_as_zero) {
  model::GapParts parts;
  parts.rounding = 1e-7;
  EXPECT_EQ(gap_text(parts, figures(1.0 - 1e-7, 1.0)), "");
}

TEST(Summary, counts_what_there_was_to_plan) {
  model::Plan plan;
  plan.figures.gpus_total = 48;
  plan.figures.gpu_milli_total = 48000;
  plan.figures.gpu_milli_allocated = 32000;
  plan.figures.jobs_total = 5;
  plan.figures.jobs_placed = 2;
  const std::string all = summary(plan, {});
  EXPECT_NE(all.find("GPUs          32.00 of 48 allocated (66.67 %)\n"), std::string::npos) << all;
  EXPECT_NE(all.find("jobs          2 of 5 placed\n"), std::string::npos) << all;
  const std::string text = summary(plan, {}, {.gpu_milli = 40000, .pinned = 2});
  EXPECT_NE(text.find("GPUs          32.00 of 40 allocated (80.00 %), of 48 in all\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("jobs          2 of 3 placed; 2 more pinned\n"), std::string::npos) << text;
}

TEST(Summary, counts_every_reason_for_waiting) {
  const std::map<std::string, std::int64_t> four{{"a", 4}, {"b", 3}, {"c", 2}, {"d", 1}};
  const std::string text = summary({}, four);
  for (const char* line : {"waiting               4  a\n", "  3  b\n", "  2  c\n", "  1  d\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
  std::map<std::string, std::int64_t> many;
  for (int i = 0; i < 20; ++i) many[std::string(1, static_cast<char>('a' + i))] = 1;
  EXPECT_NE(summary({}, many).find("  8  8 other reasons\n"), std::string::npos);
}

TEST(Heading, tells_usable_gpus_and_the_load_on_them) {
  model::Cluster cluster;
  cluster.gpu_types = {"A", "B"};
  cluster.classes = {
      {.name = "a", .gpu_type = GpuTypeId(0), .gpus = 8, .capacity = {}, .gpu_slices = 0},
      {.name = "cpu", .gpu_type = {}, .gpus = 0, .capacity = {}, .gpu_slices = 0}};
  cluster.pods.resize(1);
  cluster.racks.resize(2);
  cluster.machine_class = {ClassId(0), ClassId(0), ClassId(1)};
  cluster.machine_rack = {RackId(0), RackId(1), RackId(1)};
  cluster.machine_state = {model::MachineState::up, model::MachineState::drained,
                           model::MachineState::up};
  cluster.immovable = {{.machine = MachineId(0), .devices = 0b11, .milli = 750},
                       {.machine = MachineId(1), .devices = 0b1, .milli = 1000}};
  EXPECT_EQ(heading(cluster, {.program = "berth 1",
                              .ranks = 2,
                              .threads = 1,
                              .jobs = 3,
                              .gpu_milli = 12'500,
                              .running = 1,
                              .pinned = 0}),
            "  program       berth 1, 2 ranks x 1 thread\n"
            "  cluster       3 machines, 2 racks, 1 pod\n"
            "                16 GPUs (16 A)\n"
            "                8 usable: 8 on 1 machine not up\n"
            "                1.5 busy already, with what no plan moves\n"
            "  to plan       3 jobs for 12.5 GPUs, load 1.92; 1 run\n");
}

}  // namespace
}  // namespace berth::report
