// SPDX-License-Identifier: Apache-2.0
// SLAQ in a simulation: jobs files, losses and runs.
#include "tiny.hpp"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "berth/base/error.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/profiles_file.hpp"
#include "berth/papers/paper_policies.hpp"
#include "berth/papers/quality_allocation.hpp"
#include "berth/sim/simulate.hpp"
#include "berth/sim/trace.hpp"

namespace berth::papers {
namespace {

/// `count` elastic jobs of 1, 2, 4, 7 or 8 GPUs on two machines of 4; linear speed-up.
model::Instance instance_of(int count, int gap) {
  test::Tiny tiny;
  const ClassId of = tiny.machine_class("m", tiny.type("X"), 4, 0, 0);
  tiny.pod();
  tiny.rack();
  for (int m = 0; m < 2; ++m) tiny.machine(of);
  std::string jobs;
  for (int j = 0; j < count; ++j) {
    jobs += "{\"id\":\"j" + std::to_string(j) + "\",\"arrival\":" + std::to_string(j * gap) +
            R"(,"duration":400,"tasks":[{"shape":"task","count":1,"gpus":1}],"configurations":[)";
    for (const int gpus : {1, 2, 4, 7, 8}) {
      jobs += std::string(gpus > 1 ? "," : "") + R"({"counts":{"task":)" + std::to_string(gpus) +
              R"(},"speed":)" + std::to_string(gpus) + "}";
    }
    jobs += "]}\n";
  }
  tiny.instance.workload = io::parse_jobs(jobs, "jobs.jsonl", tiny.instance.cluster);
  return tiny.instance;
}

std::string loss_line(int job, const std::string& curve) {
  return "{\"job\":\"j" + std::to_string(job) + R"(","loss":{"family":)" + curve + "}}\n";
}

const std::string kSteep = R"("linear","iterations":100,"a":0.9)";
const std::string kSlow = R"("linear","iterations":100,"a":0.999)";

sim::Run run_of(const model::Instance& instance, const std::string& losses) {
  const speed::Profiles profiles = io::parse_profiles(losses, "p.jsonl", instance);
  const auto policy = find_paper_policy("slaq")->make({instance, profiles, 1});
  return sim::simulate(instance.cluster, sim::make_trace(instance, {}), *policy);
}

TEST(SlaqPolicy, OneJobTakesAllGpus) {
  const auto run = run_of(instance_of(1, 0), loss_line(0, kSteep));
  EXPECT_NEAR(static_cast<double>(run.records[0].end()) / sim::kSecond, 50.0, 1.0);
}

TEST(SlaqPolicy, AJobThatConvergedMakesRoom) {
  const model::Instance instance = instance_of(2, 20);
  const auto run = run_of(instance, loss_line(0, kSteep) + loss_line(1, kSteep));
  // The second one arrives when 0.015 of the first one's loss is left, and overtakes it.
  EXPECT_LT(run.records[1].end(), run.records[0].end());
  const auto turned = run_of(instance, loss_line(0, kSlow) + loss_line(1, kSlow));
  EXPECT_LT(turned.records[0].end(), turned.records[1].end());
}

TEST(SlaqPolicy, AllJobsEndWhenThereAreMoreThanGpus) {
  std::string losses;
  for (int j = 0; j < 20; ++j) losses += loss_line(j, j % 2 == 0 ? kSteep : kSlow);
  const auto run = run_of(instance_of(20, 1), losses);
  for (const auto& record : run.records) EXPECT_GT(record.end(), record.arrival);
}

TEST(SlaqPolicy, JobsWithoutLossAreNamed) {
  const model::Instance instance = instance_of(3, 0);
  try {
    (void)run_of(instance, loss_line(1, kSteep));
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_NE(error.problem().find("j0, j2"), std::string::npos) << error.what();
  }
}

TEST(SlaqPolicy, FaultsOfLossesNameTheField) {
  const model::Instance instance = instance_of(1, 0);
  const auto field = [&](const std::string& curve) {
    try {
      (void)io::parse_profiles(loss_line(0, curve), "p.jsonl", instance);
    } catch (const InputError& error) {
      return error.where().field;
    }
    return std::string("no fault");
  };
  EXPECT_EQ(field(kSteep), "no fault");
  EXPECT_EQ(field(R"("cubic","iterations":9)"), "loss.family");
  EXPECT_EQ(field(R"("linear","iterations":9,"a":1)"), "loss");
  EXPECT_EQ(field(R"("linear","iterations":0,"a":0.5)"), "loss");
  EXPECT_EQ(field(R"("sublinear","iterations":9,"b":1)"), "loss");
  EXPECT_EQ(field(R"("sublinear","a":1,"c":1)"), "loss.iterations");
}

TEST(OptionDivision, ExactOnEnvelopesThatFit) {
  // Values per GPU: 5, then 2; 4, then 3. Three GPUs: both have one, the second a second.
  const std::vector<std::vector<SizeOption>> jobs = {{{1, 5}, {2, 7}}, {{1, 4}, {2, 7}}};
  EXPECT_EQ(divide_options(jobs, 3), (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(divide_options(jobs, 1), (std::vector<std::int32_t>{0, -1}));
  EXPECT_EQ(divide_options(jobs, 4), (std::vector<std::int32_t>{1, 1}));
}

TEST(OptionDivision, SizesBelowTheEnvelopeAreLeftOut) {
  // Two GPUs gain nothing over one, four gain much: the step from one to four counts as a whole.
  const std::vector<std::vector<SizeOption>> jobs = {{{1, 1}, {2, 1}, {4, 10}}, {{1, 1}, {4, 4}}};
  EXPECT_EQ(divide_options(jobs, 5), (std::vector<std::int32_t>{2, 0}));
}

}  // namespace
}  // namespace berth::papers
