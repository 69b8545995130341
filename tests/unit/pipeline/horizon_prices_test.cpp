// SPDX-License-Identifier: Apache-2.0
// What prices beside those of GPUs prove: each of these plans is optimal, and bounds by GPUs alone
// are far above it.
#include "with_petsc.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "berth/certify/horizon_plan.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/file.hpp"
#include "berth/io/horizon_plan_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/pipeline/plan_horizon.hpp"

namespace berth::pipeline {
namespace {

constexpr std::int64_t kHour = 3600;

class HorizonPrices : public berth::test::WithPetsc<> {
 protected:
  /// Four machines of 8 GPUs and 32 cores; `copies` jobs with these keys, an hour each, and
  /// `other`.
  model::HorizonPlan plan(const std::string& queues, const std::string& keys, int copies,
                          const std::string& other = "") {
    instance_.cluster = io::parse_cluster(
        "schema: 1\nclasses: {a: {gpu_type: A, gpus: 8, cpu_milli: 32000}}\n" + queues +
            "pods: [{id: p, racks: [{id: r, machines: [{ids: \"m[0-3]\", class: a}]}]}]\n",
        "cluster.yaml");
    std::string jobs = other;
    if (!other.empty()) jobs += "\n";
    for (int j = 0; j < copies; ++j) {
      jobs += R"({"id":"j)" + std::to_string(j) + R"(","duration":3600,)" + keys + "}\n";
    }
    instance_.workload = io::parse_jobs(jobs, "jobs.jsonl", instance_.cluster);
    report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
    return plan_horizon(instance_, request_, silent);
  }

  /// The plan reaches the optimum, its bound exceeds it by at most 0.1 %, and the file is sound.
  void proves(const model::HorizonPlan& plan, double optimum) {
    EXPECT_DOUBLE_EQ(plan.figures.objective, optimum);
    EXPECT_LE(plan.figures.bound, 1.001 * optimum);
    EXPECT_GE(plan.figures.bound, optimum);
    write_horizon_plan(path_, instance_, plan);
    const auto raw = io::parse_horizon_plan(io::read_file(path_), path_);
    EXPECT_TRUE(certify::check_horizon(instance_, raw).checked.valid());
    std::filesystem::remove(path_);
  }

  model::Instance instance_;
  HorizonRequest request_{.horizon = {.now = 0, .length = kHour}, .keep = {}, .keep_price = {}};
  std::string path_ = testing::TempDir() + "horizon_prices_" + std::to_string(::getpid()) + ".json";
};

TEST_F(HorizonPrices, tasks_of_six_gpus_are_alone_on_machines_of_eight) {
  const auto found = plan("", R"("tasks":[{"gpus":6}],"value":10)", 12);
  EXPECT_FALSE(found.certificate.factors.empty());
  proves(found, 40.0);  // by GPUs 53
}

TEST_F(HorizonPrices, cores_run_out_before_gpus) {
  request_.horizon.length = 3 * kHour;
  proves(plan("", R"("tasks":[{"gpus":3,"cpu_milli":20000}],"value":5)", 40), 60.0);
}

TEST_F(HorizonPrices, machines_in_maintenance_hold_nothing) {
  request_.horizon.length = 2 * kHour;
  const auto found =
      plan("windows: [{machines: [m0, m1], from: 3600, to: 7200, kind: maintenance}]\n",
           R"("tasks":[{"gpus":6}],"value":10)", 12);
  proves(found, 60.0);
}

TEST_F(HorizonPrices, a_quota_limits_its_queue_and_those_below) {
  const std::string queues =
      "queues: [{id: all, gpu_quota: 6}, {id: some, parent: all, gpu_quota: 20}]\n";
  const auto found = plan(queues, R"("tasks":[{"gpus":2}],"queue":"some","value":3)", 40);
  EXPECT_EQ(found.certificate.quotas.size(), 1u);
  proves(found, 9.0);  // by GPUs 48
}

TEST_F(HorizonPrices, a_budget_of_gpu_hours_limits_its_queue) {
  request_.horizon.length = 4 * kHour;
  const auto found = plan("queues: [{id: q, gpu_hours: 10}]\n",
                          R"("tasks":[{"gpus":2}],"queue":"q","value":3)", 40);
  EXPECT_EQ(found.certificate.budgets.size(), 1u);
  proves(found, 15.0);  // by GPUs 120
}

TEST_F(HorizonPrices, gangs_of_three_machines_of_four_run_one_by_one) {
  request_.horizon.length = 2 * kHour;
  const auto found = plan("", R"("tasks":[{"count":3,"gpus":8}],"value":10)", 6);
  EXPECT_EQ(found.certificate.sizes.size(), 1u);
  proves(found, 20.0);  // by GPUs 26.7
}

TEST_F(HorizonPrices, a_job_is_worth_what_those_that_wait_for_it_are) {
  request_.horizon.length = 2 * kHour;
  std::string pairs;  // 4 a machine and hour, where the others are worth 5
  for (int j = 0; j < 8; ++j) {
    const std::string n = std::to_string(j);
    pairs += R"({"id":"first)" + n +
             R"(","duration":3600,"value":1,"tasks":[{"gpus":8}]})"
             "\n";
    pairs += R"({"id":"then)" + n + R"(","duration":3600,"value":7,"tasks":[{"gpus":8}],)";
    pairs += R"("after":["first)" + n + "\"]}\n";
  }
  pairs.pop_back();
  const auto found = plan("", R"("tasks":[{"gpus":8}],"value":5)", 12, pairs);
  EXPECT_EQ(found.certificate.shares.size(), 8u);
  proves(found, 40.0);  // by earliest ends alone 48
}

TEST_F(HorizonPrices, gangs_of_six_gpus_take_machines_of_eight_until_the_last_completion) {
  request_.horizon.objective = model::HorizonObjective::makespan;
  const auto found = plan("", R"("tasks":[{"count":2,"gpus":6}])", 6);
  EXPECT_FALSE(found.certificate.factors.empty());
  EXPECT_DOUBLE_EQ(found.figures.objective, 3.0 * kHour);
  EXPECT_LE(found.figures.bound, 3.0 * kHour);
  EXPECT_GE(found.figures.bound, 2.99 * kHour);  // by GPUs 2.25 hours
  write_horizon_plan(path_, instance_, found);
  const auto raw = io::parse_horizon_plan(io::read_file(path_), path_);
  const auto check = certify::check_horizon(instance_, raw);
  EXPECT_TRUE(check.checked.valid());
  std::filesystem::remove(path_);
}

TEST_F(HorizonPrices, a_job_that_no_machine_holds_takes_no_proof_away) {
  request_.horizon.objective = model::HorizonObjective::makespan;
  const auto found = plan("", R"("tasks":[{"gpus":6}])", 12,
                          R"({"id":"large","duration":36000,"tasks":[{"count":2,"gpus":9}]})");
  EXPECT_EQ(found.required_missing.size(), 1u);
  EXPECT_GE(found.figures.bound, 2.99 * kHour);
}

TEST_F(HorizonPrices, factors_count_in_the_proof_digest) {
  model::HorizonPlan found = plan("", R"("tasks":[{"gpus":6}],"value":10)", 12);
  ASSERT_FALSE(found.certificate.factors.empty());
  const auto digest = [&] {
    return certify::horizon_proof_digest(found.horizon, found.figures, found.certificate);
  };
  const std::string before = digest();
  ++found.certificate.factors.front().factor;
  EXPECT_NE(digest(), before);
  const std::string changed = digest();
  found.certificate.shares.push_back({.job = "j1", .after = "j0", .share = 1});
  EXPECT_NE(digest(), changed);
  const std::string shared = digest();
  found.certificate.sizes.push_back({.gpu_type = "A", .gpus = 8, .factor = 1});
  EXPECT_NE(digest(), shared);
}

}  // namespace
}  // namespace berth::pipeline
