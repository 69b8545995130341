// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/branch.hpp"

#include "random_tiny.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "berth/certify/bound.hpp"
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

Branched grown(const model::Instance& instance, const BranchOptions& options) {
  const model::Valuation value(instance, model::Objective::value);
  const std::vector<JobId> jobs = countable_jobs(instance);
  const std::vector<double> start(jobs.size(), 0.25);
  const auto root = price_jobs(value, jobs, start, {}, 1.0, {.evaluations = 200});
  return branch(value, jobs, root.prices, {}, options);
}

TEST(Branch, closes_what_prices_of_jobs_cannot) {
  const auto tiny = two_racks();
  const Branched one = grown(tiny.instance, {.leaves = 1, .smallest = 2, .slack = 0.25});
  EXPECT_EQ(one.leaves, 1);
  EXPECT_GE(one.bound, 3.75 - 1e-9);
  const Branched tree = grown(tiny.instance, {.leaves = 20, .smallest = 2, .slack = 0.25});
  EXPECT_GT(tree.leaves, 1);
  EXPECT_LE(tree.leaves, 20);
  EXPECT_NEAR(tree.bound, 3.5, 1e-2);
  EXPECT_EQ(tree.nodes.front().split, JobId(3)) << "the pair is what is undecided";
}

TEST(Branch, splits_no_job_below_the_smallest_size) {
  const auto tiny = two_racks();
  EXPECT_EQ(grown(tiny.instance, {.leaves = 20, .smallest = 3, .slack = 0.25}).leaves, 1);
}

TEST(Branch, ends_when_asked_to) {
  const auto tiny = two_racks();
  StopSource source;
  source.stop_after_questions(0);
  const Branched cut =
      grown(tiny.instance, {.leaves = 20, .smallest = 2, .slack = 0.25, .stop = StopToken(source)});
  EXPECT_EQ(cut.leaves, 1);
  EXPECT_EQ(cut.evaluations, 1);
}

/// The judge's view of the same tree.
model::Certificate certificate_of(const std::vector<JobId>& jobs, const Branched& tree) {
  model::Certificate result;
  result.scale_log2 = 40;
  for (const JobId j : jobs) result.jobs.push_back({j, 0});
  for (const BranchNode& node : tree.nodes) {
    auto& added = result.tree.nodes.emplace_back();
    added = {.parent = node.parent,
             .split = node.split,
             .out = node.out,
             .rest = node.rest,
             .spots = node.spots,
             .changes = {}};
    for (std::size_t i = 0; i < node.prices.size(); ++i) {
      const std::int64_t price = std::llround(std::ldexp(node.prices[i], 40));
      added.changes.push_back({static_cast<std::uint32_t>(i), price});
    }
  }
  return result;
}

TEST(Branch, bound_is_the_one_that_the_judge_computes) {
  int trees = 0, by_rack = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    test::Dice dice(seed);
    model::Instance instance = test::random_tiny(dice);
    for (model::Shape& s : instance.workload.shapes) {
      s = {.gpus = s.gpu_milli > 0 ? 1 : s.gpus};
    }
    for (model::Job& job : instance.workload.jobs) {
      if (instance.workload.gpu_milli(job) == 0) job.value = 0.0;
    }
    const std::vector<JobId> jobs = countable_jobs(instance);
    if (jobs.empty()) continue;
    const Branched tree =
        grown(instance, {.leaves = 12, .evaluations = 20, .smallest = 1, .slack = 1.0});
    const model::Certificate judged = certificate_of(jobs, tree);
    ASSERT_EQ(certify::unusable(instance, model::Objective::value, judged), "");
    ASSERT_EQ(certify::uncovered(instance, judged, {}), "");
    const auto bound = certify::upper_bound(instance, model::Objective::value, judged, {});
    const double by_prices = std::ldexp(static_cast<double>(bound.machines + bound.jobs), -40);
    // The judge leaves out places that a job cannot lie in, which the solver may still pay for.
    EXPECT_LE(by_prices, tree.bound + 1e-6);
    if (tree.leaves > 1 && by_prices > tree.bound - 1e-6) ++trees;
    for (const BranchNode& node : tree.nodes) {
      for (const model::SpotSet& set : node.spots) by_rack += set.rack.valid() ? 1 : 0;
    }
  }
  EXPECT_GT(trees, 50);
  EXPECT_GT(by_rack, 10) << "no job was split over racks";
}

}  // namespace
}  // namespace berth::solver
