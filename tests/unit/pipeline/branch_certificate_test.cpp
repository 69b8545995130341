// SPDX-License-Identifier: Apache-2.0
#include "branch_certificate.hpp"

#include "random_tiny.hpp"

#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "berth/certify/bound.hpp"
#include "berth/solver/job_prices.hpp"

namespace berth::pipeline {
namespace {

solver::BranchAndBoundResult grown(const model::Instance& instance, std::span<const JobId> jobs,
                                   const solver::BranchOptions& options) {
  const planner_model::Valuation value(instance, model::Objective::value);
  const std::vector<double> start(jobs.size(), 0.25);
  const auto root =
      solver::minimise_job_prices(value, jobs, start, {}, {.slack = 1.0}, {.evaluations = 200});
  return solver::branch_and_bound(value, jobs, root.prices, {}, {.slack = 1.0}, options);
}

TEST(Cases, bound_is_the_one_that_the_judge_computes) {
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
    const std::vector<JobId> jobs = solver::whole_gpu_jobs(instance);
    if (jobs.empty()) continue;
    const solver::BranchAndBoundResult tree =
        grown(instance, jobs, {.leaves = 12, .evaluations = 20, .smallest = 1});
    model::Certificate judged;
    judged.scale_log2 = 40;
    for (const JobId j : jobs) judged.jobs.push_back({j, 0});
    judged = branch_certificate(std::move(judged), tree, 0.0);
    ASSERT_EQ(certify::unusable(instance, model::Objective::value, judged), "");
    ASSERT_EQ(certify::uncovered(instance, judged, {}), "");
    const auto bound = certify::upper_bound(instance, model::Objective::value, judged, {});
    const double by_prices = std::ldexp(static_cast<double>(bound.machines + bound.jobs), -40);
    // The judge leaves out places that a job cannot lie in, which the solver may still pay for.
    EXPECT_LE(by_prices, tree.bound + 1e-6);
    if (tree.leaves > 1 && by_prices > tree.bound - 1e-6) ++trees;
    for (const solver::BranchNode& node : tree.nodes) {
      for (const model::SpotSet& set : node.spots) by_rack += set.rack.valid() ? 1 : 0;
    }
  }
  EXPECT_GT(trees, 50);
  EXPECT_GT(by_rack, 10) << "no job was split over racks";
}

}  // namespace
}  // namespace berth::pipeline
