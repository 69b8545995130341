// SPDX-License-Identifier: Apache-2.0
#include "tighten.hpp"

#include "resource_prices.hpp"
#include "tiny.hpp"

#include <gtest/gtest.h>

#include "berth/certify/bound.hpp"

namespace berth::pipeline {
namespace {

/// One machine of 2 GPUs; a job of 2 GPUs worth 3, jobs of 1 GPU worth 2 and 0.5. The optimum is 3;
/// a price per GPU proves 3.5 at best, at 1.5.
class OneRack : public testing::Test {
 protected:
  OneRack() {
    const ClassId c = tiny_.machine_class("c", tiny_.type("A"), 2, 4000, 1000);
    tiny_.pod(), tiny_.rack(), tiny_.machine(c);
    tiny_[tiny_.job({{.gpus = 2}})].value = 3.0;
    tiny_[tiny_.job({{.gpus = 1}})].value = 2.0;
    tiny_[tiny_.job({{.gpus = 1}})].value = 0.5;
  }

  Proof tightened(const TightenGoal& goal, int steps) {
    const planner_model::Valuation value(tiny_.instance, model::Objective::value);
    const auto pools = planner_model::make_pools(tiny_.instance.cluster, model::Level::rack);
    const std::vector<double> prices{1.5};
    Proof proof = tightest(tiny_.instance, value.objective(), {from_pools(pools, prices)});
    EXPECT_NEAR(proof.upper_bound, 3.5, 1e-9);
    return price_jobs(value, pools, prices, std::move(proof), goal,
                      {.job_prices = {.evaluations = steps}});
  }

  test::Tiny tiny_;
};

TEST_F(OneRack, is_filled_by_whole_jobs) {
  const Proof proof = tightened({.objective = 3.0}, 200);
  EXPECT_NEAR(proof.upper_bound, 3.0, 1e-3);
  EXPECT_GE(proof.upper_bound, 3.0);
  EXPECT_EQ(proof.certificate.jobs.size(), 3U);
  EXPECT_TRUE(proof.certificate.pools.empty());
}

TEST_F(OneRack, keeps_its_proof_without_steps_or_when_the_gap_is_small_enough) {
  EXPECT_NEAR(tightened({.objective = 3.0}, 0).upper_bound, 3.5, 1e-9);
  EXPECT_NEAR(tightened({.objective = 3.0, .gap = 0.2}, 50).upper_bound, 3.5, 1e-9);
}

/// The steps start at prices of their own, so another proof does not set their length.
TEST_F(OneRack, steps_do_not_depend_on_a_better_proof) {
  const planner_model::Valuation value(tiny_.instance, model::Objective::value);
  const auto pools = planner_model::make_pools(tiny_.instance.cluster, model::Level::rack);
  const TightenOptions options{.job_prices = {.evaluations = 4}};
  const std::vector<double> prices{1.5};
  const auto after = [&](double known) {
    Proof proof = tightest(tiny_.instance, value.objective(), {from_pools(pools, prices)});
    proof.upper_bound = known;
    return price_jobs(value, pools, prices, std::move(proof), {.objective = 3.0}, options)
        .upper_bound;
  };
  EXPECT_EQ(after(3.5), after(3.01));
}

/// Jobs that must be in, or share devices, keep paying for their GPUs.
TEST_F(OneRack, prices_only_jobs_of_whole_gpus_that_may_stay_out) {
  tiny_[JobId(1)].required = true;
  const Proof proof = tightened({.objective = 2.5}, 50);
  EXPECT_GE(proof.upper_bound, 3.0);
  for (const auto& job : proof.certificate.jobs) EXPECT_NE(job.job, JobId(1));
}

/// Two racks of 16 GPUs, three jobs of 8 worth 1, a gang of 16 worth 1.5 in one rack: 3.5 at best,
/// where prices of jobs prove 3.75.
TEST(Cases, close_what_prices_of_jobs_cannot) {
  test::Tiny tiny;
  const ClassId c = tiny.machine_class("c", tiny.type("A"), 8, 4000, 1000);
  for (int rack = 0; rack < 2; ++rack) {
    tiny.pod(), tiny.rack(), tiny.machine(c), tiny.machine(c);
  }
  for (int i = 0; i < 3; ++i) tiny[tiny.job({{.gpus = 8}})].value = 1.0;
  model::Job& gang = tiny[tiny.job({{.count = 2, .gpus = 8}})];
  gang.value = 1.5;
  gang.domain = model::Level::rack;
  const planner_model::Valuation value(tiny.instance, model::Objective::value);
  const auto pools = planner_model::make_pools(tiny.instance.cluster, model::Level::rack);
  const std::vector<double> prices{0.1, 0.1};
  const auto bound = [&](int leaves) {
    Proof proof = tightest(tiny.instance, value.objective(), {from_pools(pools, prices)});
    return price_jobs(value, pools, prices, std::move(proof), {.objective = 3.5},
                      {.job_prices = {.evaluations = 200}, .branch = {.leaves = leaves}});
  };
  const Proof alone = bound(0);
  EXPECT_GE(alone.upper_bound, 3.75);
  EXPECT_TRUE(alone.certificate.tree.empty());
  const Proof tree = bound(16);
  EXPECT_GE(tree.upper_bound, 3.5);
  EXPECT_NEAR(tree.upper_bound, 3.5, 1e-2);
  EXPECT_FALSE(tree.certificate.tree.empty());
}

/// Optional resources, by row of model::kResourceTable.
class ResourcePrices : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Rows, ResourcePrices,
                         testing::Range(model::kRequiredResources, model::kResources));

/// Two machines with 10 of the resource; of 9, 8, 6, 4 and 2 all but 9 fit. GPUs are plenty.
TEST_P(ResourcePrices, prove_that_machines_are_full) {
  const std::size_t r = GetParam();
  test::Tiny tiny;
  const ClassId c = tiny.machine_class("c", tiny.type("A"), 4, 4000, 1000);
  tiny[c].capacity[r] = 10;
  tiny.pod(), tiny.rack(), tiny.machine(c), tiny.machine(c);
  for (const std::int64_t need : {9, 8, 6, 4, 2}) {
    model::Shape shape{.gpus = 1};
    shape.needs[r] = need;
    const JobId job = tiny.job({{.gpus = 1}});
    tiny.instance.workload.groups[tiny[job].first_group].shape = tiny.shape(shape);
  }
  const auto pools = planner_model::make_pools(tiny.instance.cluster, model::Level::pod);
  const Proof proof =
      tightest(tiny.instance, model::Objective::value, {from_pools(pools, std::vector{0.0})});
  EXPECT_EQ(proof.upper_bound, 5.0);
  const Proof better = price_resources(tiny.instance, model::Objective::value, proof, {});
  EXPECT_EQ(better.upper_bound, 4.0);
  ASSERT_EQ(better.certificate.pools.size(), 1U);
  tiny[c].capacity[r] = model::kNoLimit;
  EXPECT_EQ(
      price_resources(tiny.instance, model::Objective::value, proof, {}).certificate.pools.size(),
      0U);
}

/// Four jobs, each of half the resource and paying 1 a task: the content of the machine shows that
/// two fit.
TEST_P(ResourcePrices, are_not_needed_where_contents_of_machines_prove_as_much) {
  const std::size_t r = GetParam();
  test::Tiny tiny;
  const ClassId c = tiny.machine_class("c", tiny.type("A"), 4, 4000, 1000);
  tiny[c].capacity[r] = 1000;
  tiny.pod(), tiny.rack(), tiny.machine(c);
  for (int i = 0; i < 4; ++i) tiny.job({{.gpus = 1}});
  tiny.instance.workload.shapes[0].needs[r] = 500;
  const std::vector<solver::TaskPrice> prices{{ShapeId(0), GpuTypeId(0), 1.0}};
  const Proof proof = tightest(tiny.instance, model::Objective::value, {from_shapes(prices)});
  EXPECT_EQ(proof.upper_bound, 2.0);
  EXPECT_EQ(price_resources(tiny.instance, model::Objective::value, proof, {}).upper_bound, 2.0);
}

TEST(BoundSteps, are_for_small_clusters) {
  EXPECT_GT(usual_bound_steps(4096, 1000), 0);
  EXPECT_EQ(usual_bound_steps(4097, 1000), 0);
  EXPECT_GT(usual_tree_leaves(1024, 1000), 1);
  EXPECT_EQ(usual_tree_leaves(1025, 1000), 0);
  EXPECT_GT(usual_bound_steps(16384, 64), 0);  // few jobs
  EXPECT_GT(usual_tree_leaves(16384, 64), 1);
  EXPECT_EQ(usual_bound_steps(16384, 65), 0);
}

}  // namespace
}  // namespace berth::pipeline
