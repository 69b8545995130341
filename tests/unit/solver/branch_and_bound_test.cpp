// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/branch_and_bound.hpp"

#include "tiny.hpp"

#include <gtest/gtest.h>

#include "berth/parallel/threads.hpp"
#include "berth/solver/job_prices.hpp"

namespace berth::solver {
namespace {

/// Two racks of 2 GPUs, three jobs of 1 GPU worth 1, a pair worth 1.5 when it is in one rack. The
/// optimum is 3.5; prices of jobs alone prove 3.75 at best.
test::Tiny two_racks() {
  test::Tiny tiny;
  const ClassId c = tiny.machine_class("c", tiny.type("A"), 2, 4000, 1000);
  tiny.pod(), tiny.rack(), tiny.machine(c);
  tiny.pod(), tiny.rack(), tiny.machine(c);
  for (int i = 0; i < 3; ++i) tiny.job({{.gpus = 1}});
  model::Job& pair = tiny[tiny.job({{.count = 2, .gpus = 1}})];
  pair.value = 1.5;
  pair.domain = model::Level::rack;
  return tiny;
}

BranchAndBoundResult grown(const model::Instance& instance, const BranchOptions& options,
                           const StopToken& stop = {}) {
  const planner_model::Valuation value(instance, model::Objective::value);
  const std::vector<JobId> jobs = whole_gpu_jobs(instance);
  const std::vector<double> start(jobs.size(), 0.25);
  const auto root =
      minimise_job_prices(value, jobs, start, {}, {.slack = 1.0}, {.evaluations = 200});
  return branch_and_bound(value, jobs, root.prices, {}, {.slack = 0.25, .stop = stop}, options);
}

TEST(BranchAndBound, closes_what_prices_of_jobs_cannot) {
  const auto tiny = two_racks();
  const BranchAndBoundResult one = grown(tiny.instance, {.leaves = 1, .smallest = 2});
  EXPECT_EQ(one.leaves, 1);
  EXPECT_GE(one.bound, 3.75 - 1e-9);
  const BranchAndBoundResult tree = grown(tiny.instance, {.leaves = 20, .smallest = 2});
  EXPECT_GT(tree.leaves, 1);
  EXPECT_LE(tree.leaves, 20);
  EXPECT_NEAR(tree.bound, 3.5, 1e-2);
  EXPECT_EQ(tree.nodes.front().split, JobId(3)) << "the pair is what is undecided";
}

TEST(BranchAndBound, splits_no_job_below_the_smallest_size) {
  const auto tiny = two_racks();
  EXPECT_EQ(grown(tiny.instance, {.leaves = 20, .smallest = 3}).leaves, 1);
}

TEST(BranchAndBound, ends_after_so_many_cells) {
  const auto tiny = two_racks();
  const BranchAndBoundResult all = grown(tiny.instance, {.leaves = 20, .smallest = 2});
  const BranchAndBoundResult few =
      grown(tiny.instance, {.leaves = 20, .smallest = 2, .most_cells = 1});
  EXPECT_EQ(few.leaves, 1) << "only the root is solved";
  EXPECT_LT(few.evaluations, all.evaluations);
  EXPECT_GE(few.bound, all.bound);
}

TEST(BranchAndBound, ends_when_asked_to) {
  const auto tiny = two_racks();
  StopSource source;
  source.stop_after_questions(0);
  const BranchAndBoundResult cut =
      grown(tiny.instance, {.leaves = 20, .smallest = 2}, StopToken(source));
  EXPECT_EQ(cut.leaves, 1);
  EXPECT_EQ(cut.evaluations, 1);
}

}  // namespace
}  // namespace berth::solver
