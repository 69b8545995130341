// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/berth.hpp"
#include "berth/certify/check.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/plan_file.hpp"

namespace berth {
namespace {

ClusterBuilder two_racks() {
  ClusterBuilder cluster;
  cluster.add_class("h\"100", {.gpu_type = "H100", .gpus = 8, .more = R"({"memory":"1TiB"})"})
      .add_machines("pod", "rack-a", "a[1-2]", "h\"100")
      .add_machines("pod", "rack-b", "b[1-2]", "h\"100")
      .add_queue("all", {.gpu_quota = 24})
      .add_queue("team", {.gpu_quota = 8, .parent = "all"})
      .set_state("b2", "drained");
  return cluster;
}

JobsBuilder three_jobs() {
  JobsBuilder jobs;
  jobs.add({.id = "llm", .tasks = {{.count = 2, .gpus = 8}}, .weight = 3, .domain = "rack"})
      .add({.id = "share", .tasks = {{.gpu_milli = 300}}, .queue = "team"})
      .add({.id = "large",
            .tasks = {{.shape = "worker", .count = 5, .gpus = 8}},
            .more = R"({"arrival":60})"});
  return jobs;
}

TEST(Plan, has_names_devices_and_reasons) {
  const PlanResult result = plan(two_racks(), three_jobs());
  ASSERT_EQ(result.placed.size(), 2u);
  EXPECT_EQ(result.placed[0].job, "llm");
  EXPECT_EQ(result.placed[0].tasks.size(), 2u);
  for (const PlacedTask& task : result.placed[0].tasks) {
    EXPECT_THAT(task.machine, testing::AnyOf("a1", "a2"));
    EXPECT_EQ(task.gpus, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(task.gpu_milli, 1000);
  }
  EXPECT_EQ(result.placed[1].job, "share");
  EXPECT_EQ(result.placed[1].tasks.at(0).machine, "b1");
  EXPECT_EQ(result.placed[1].tasks.at(0).gpu_milli, 300);
  ASSERT_EQ(result.waiting.size(), 1u);
  EXPECT_EQ(result.waiting[0].job, "large");
  EXPECT_FALSE(result.waiting[0].reason.empty());
  EXPECT_DOUBLE_EQ(result.objective, 48.3);
  EXPECT_GE(result.upper_bound, result.objective);
  EXPECT_TRUE(result.reproducible);
  EXPECT_EQ(plan(two_racks(), three_jobs()).plan_digest, result.plan_digest);
}

TEST(Plan, is_one_that_the_judge_takes_from_the_builders_texts) {
  model::Instance instance;
  instance.cluster = io::parse_cluster(two_racks().text(), "cluster");
  instance.workload = io::parse_jobs(three_jobs().text(), "jobs", instance.cluster);
  const PlanResult result = plan(two_racks(), three_jobs(), {.named = {{"seed", "7"}}});
  EXPECT_TRUE(certify::check(instance, io::parse_plan(result.text, "plan")).valid());
}

TEST(Builders, write_every_member) {
  ClusterBuilder cluster;
  cluster
      .add_class("c", {.gpu_type = "A",
                       .gpus = 2,
                       .cpu_milli = 3,
                       .memory_mib = 4,
                       .more = R"({"nic_gbps":5})"})
      .add_machines("p", "r", "m", "c")
      .add_queue("all", {.gpu_quota = 0})
      .add_queue("q", {.parent = "all", .more = R"({"over_quota_penalty":6})"})
      .set_state("m", "drain");
  EXPECT_EQ(cluster.text(), R"({"schema": 1,
"classes": {"c": {"gpu_type":"A","gpus":2,"cpu_milli":3,"memory_mib":4,"nic_gbps":5}},
"pods": [{"id": "p", "racks": [{"id": "r", "machines": [{"ids":"m","class":"c"}]}]}],
"queues": [{"id":"all","gpu_quota":0},
{"id":"q","parent":"all","over_quota_penalty":6}],
"machine_states": [{"ids":"m","state":"drain"}]}
)");
  JobsBuilder jobs;
  jobs.add({.id = "j",
            .tasks = {{.shape = "s", .count = 2, .gpus = 3, .cpu_milli = 4, .memory_mib = 5},
                      {.gpu_milli = 6}},
            .weight = 7,
            .value = 8,
            .priority = 9,
            .required = true,
            .queue = "q",
            .domain = "rack",
            .gpu_types = {"A"},
            .speed = {{"A", 0.5}},
            .more = R"({"arrival":1})"});
  EXPECT_EQ(
      jobs.text(),
      R"({"id":"j","weight":7.0,"value":8.0,"priority":9,"required":true,"queue":"q","domain":"rack","gpu_types":["A"],"speed":{"A":0.5},"arrival":1,"tasks":[{"shape":"s","count":2,"gpus":3,"cpu_milli":4,"memory_mib":5},{"gpu_milli":6}]}
)");
}

TEST(Plan, of_files_is_that_of_their_texts_and_names_required_jobs_that_are_missing) {
  JobsBuilder jobs = three_jobs();
  jobs.add({.id = "must", .tasks = {{.count = 9, .gpus = 8}}, .required = true});
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "api_cluster.yaml") << two_racks().text();
  std::ofstream(folder + "api_jobs.jsonl") << jobs.text();
  const PlanResult result = plan_files(folder + "api_cluster.yaml", folder + "api_jobs.jsonl");
  EXPECT_EQ(result.required_missing, std::vector<std::string>{"must"});
  EXPECT_EQ(result.plan_digest, plan(two_racks(), jobs).plan_digest);
  EXPECT_EQ(result.plan_digest, plan_texts(two_racks().text(), jobs.text()).plan_digest);
  EXPECT_THROW(plan_files(folder + "api_none.yaml", folder + "api_jobs.jsonl"), InputError);
}

TEST(Plan, says_where_the_input_is_wrong) {
  const auto fault = [](const auto& call) {
    try {
      call();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  JobsBuilder jobs = three_jobs();
  jobs.add({.id = "llm", .tasks = {{.gpus = 1}}});
  EXPECT_THAT(fault([&] { plan(two_racks(), jobs); }),
              testing::HasSubstr("jobs:4: id: job \"llm\" is given twice; first on line 1"));
  EXPECT_THAT(fault([&] {
                ClusterBuilder cluster = two_racks();
                plan(cluster.add_machines("pod", "rack-c", "c1", "h200"), three_jobs());
              }),
              testing::HasSubstr("pods[0].racks[2].machines[0].class: unknown class \"h200\""));
  EXPECT_EQ(fault([&] {
              plan(two_racks(), three_jobs(), {.named = {{"gapp", "1%"}}});
            }),
            "gapp: unknown option; did you mean \"gap\"?");
  EXPECT_THAT(fault([&] {
                plan(two_racks(), three_jobs(), {.named = {{"gap", "many"}}});
              }),
              testing::HasSubstr("gap: "));
  EXPECT_THAT(fault([&] { ClusterBuilder().add_class("a", {.gpus = 1, .more = R"({"gpus":2})"}); }),
              testing::HasSubstr("class a.more: \"gpus\" is given twice"));
  EXPECT_THAT(fault([&] { JobsBuilder().add({.id = "a", .more = "[1]"}); }),
              testing::HasSubstr("job a.more: is no JSON object"));
}

TEST(Plan, calls_back_with_progress_and_warnings) {
  std::vector<Progress> lines;
  std::vector<std::string> warnings;
  JobsBuilder jobs = three_jobs();
  jobs.add({.id = "old", .tasks = {{.gpus = 1}}, .more = R"({"spread":{"rack":0.5}})"});
  const PlanResult result =
      plan(two_racks(), jobs,
           {.progress = [&](const Progress& line) { lines.push_back(line); },
            .warning = [&](const std::string& text) { warnings.push_back(text); }});
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back().stage, "certify");
  EXPECT_EQ(lines.back().objective, result.objective);
  EXPECT_EQ(lines.back().gap, result.gap);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], testing::HasSubstr("spread"));
}

TEST(Plan, ends_early_when_cancelled_and_says_so) {
  const PlanResult result =
      plan(two_racks(), three_jobs(),
           {.named = {{"effort", "max"}}, .time_limit = 60.0, .cancelled = [] { return true; }});
  EXPECT_FALSE(result.reproducible);
  EXPECT_GE(result.upper_bound, result.objective);
}

TEST(Version, is_ordered) {
  EXPECT_GE(BERTH_VERSION, BERTH_VERSION_OF(0, 1, 0));
  EXPECT_LT(BERTH_VERSION_OF(0, 1, 9), BERTH_VERSION_OF(0, 2, 0));
}

}  // namespace
}  // namespace berth
