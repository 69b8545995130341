// SPDX-License-Identifier: Apache-2.0
// Whole plans: of equal jobs those of higher priority are placed, whichever path places them.
#include "toy_plan.hpp"
#include "with_petsc.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "berth/comm/communicator.hpp"

namespace berth::pipeline {
namespace {

/// `pods` pods of one machine of 8 GPUs each, and a machine without GPUs.
std::string cluster_of(int pods, const std::string& more = "") {
  std::string text =
      "{schema: 1, classes: {g: {gpu_type: A, gpus: 8, cpu_milli: 64000}, c: {cpu_milli: 64000}},\n"
      "pods: [{id: z, racks: [{id: rz, machines: [{ids: cpu, class: c}]}]}";
  for (int p = 0; p < pods; ++p) {
    const std::string n = std::to_string(p);
    text +=
        ",\n{id: p" + n + ", racks: [{id: r" + n + ", machines: [{ids: m" + n + ", class: g}]}]}";
  }
  return text + "]" + more + "}\n";
}

struct Path {
  const char* name;
  int pods;
  const char* job;        ///< of two equal ones, of which one finds a place
  const char* rest = "";  ///< other jobs
  const char* queues = "";
  int shards = 1;
};

/// Where only one of the two can be at home, that place counts.
const std::vector<Path> kPaths{
    {"single tasks", 1, R"("tasks":[{"gpus":8}])"},
    {"shares", 1, R"("tasks":[{"gpu_milli":600}])",
     R"({"id":"full","weight":9,"tasks":[{"gpus":7}]})"},
    {"CPU-only jobs", 0, R"("value":1,"tasks":[{"cpu_milli":40000}])"},
    {"worthless CPU-only jobs", 0, R"("tasks":[{"cpu_milli":40000}])"},
    {"gangs", 2, R"("tasks":[{"count":2,"gpus":8}])"},
    {"gangs of two groups", 2,
     R"("tasks":[{"shape":"w","count":2,"gpus":8},{"shape":"s","cpu_milli":1000}])"},
    {"single tasks beside a gang that is not placed", 1, R"("tasks":[{"gpus":8}])",
     R"({"id":"gang","weight":0.1,"tasks":[{"count":2,"gpus":8}]})"},
    {"jobs at home", 1, R"("home":{"pod":"p0","factor":{"cluster":0.5}},"tasks":[{"gpus":8}])"},
    {"required jobs", 1, R"("required":true,"tasks":[{"gpus":8}])"},
    {"a hard quota", 2, R"("queue":"q","tasks":[{"gpus":8}])", "",
     ",\nqueues: [{id: q, gpu_quota: 8}]"},
    {"a soft quota", 2, R"("queue":"q","tasks":[{"gpus":8}])", "",
     ",\nqueues: [{id: q, gpu_quota: 8, over_quota_penalty: 9}]"},
    {"running jobs beside them", 2, R"("tasks":[{"gpus":8}])",
     R"({"id":"runs","weight":9,"tasks":[{"gpus":1}],)"
     R"("running":{"tasks":[{"machine":"m0","gpus":[{"index":0}]}]}})"},
    {"two shards", 2, R"("tasks":[{"gpus":8}])",
     R"({"id":"large","weight":9,"tasks":[{"gpus":8}]})", "", 2},
    {"two shards, gangs", 4, R"("tasks":[{"count":2,"gpus":8}])",
     R"({"id":"large","weight":9,"tasks":[{"count":2,"gpus":8}]})", "", 2},
    {"two shards, a quota", 4, R"("queue":"q","tasks":[{"gpus":8}])",
     R"({"id":"large","weight":9,"queue":"q","tasks":[{"gpus":8}]})",
     ",\nqueues: [{id: q, gpu_quota: 16}]", 2},
};

class Priority : public berth::test::WithPetsc<> {};

test::ToyPlan plan_of(const Path& path, const std::string& of_a, const std::string& of_b) {
  PlanOptions options;
  options.partition.shards = path.shards;
  const std::string jobs = "{\"id\":\"a\"," + of_a + path.job + "}\n{\"id\":\"b\"," + of_b +
                           path.job + "}\n" + path.rest + "\n";
  return test::toy_plan(cluster_of(path.pods, path.queues), jobs, options);
}

TEST_F(Priority, of_two_equal_jobs_decides_which_is_placed) {
  for (const Path& path : kPaths) {
    SCOPED_TRACE(path.name);
    for (const bool first : {true, false}) {
      const auto plan = plan_of(path, first ? R"("priority":1,)" : R"("arrival":3,)",
                                first ? R"("arrival":3,)" : R"("priority":1,)");
      EXPECT_EQ(plan.has("a"), first);
      EXPECT_EQ(plan.has("b"), !first);
    }
    const auto by_arrival = plan_of(path, R"("arrival":3,)", R"("arrival":2,)");
    EXPECT_TRUE(!by_arrival.has("a") && by_arrival.has("b"));
    const auto by_id = plan_of(path, "", "");
    EXPECT_TRUE(by_id.has("a") && !by_id.has("b"));
  }
}

/// Both are placed, one of them at home.
TEST_F(Priority, of_two_equal_jobs_decides_which_is_at_home) {
  const Path path{.name = "",
                  .pods = 2,
                  .job = R"("home":{"pod":"p1","factor":{"cluster":0.5}},"tasks":[{"gpus":8}])"};
  for (const int shards : {1, 2}) {
    Path cut = path;
    cut.shards = shards;
    for (const bool first : {true, false}) {
      const auto plan =
          plan_of(cut, first ? R"("priority":1,)" : "", first ? "" : R"("priority":1,)");
      ASSERT_TRUE(plan.has("a") && plan.has("b"));
      EXPECT_EQ(plan.machines.at(first ? "a" : "b"), std::vector<std::string>{"m1"});
    }
  }
}

/// Two jobs of a batch, and of one moment in batches of their own.
TEST_F(Priority, orders_jobs_that_arrive_together) {
  for (const int batch : {1, 2}) {
    PlanOptions options;
    options.online.batch = batch;
    for (const bool first : {true, false}) {
      const auto job = [&](const char* id, bool high) {
        return std::string("{\"id\":\"") + id + "\"" + (high ? ",\"priority\":1" : "") +
               ",\"tasks\":[{\"gpus\":8}]}\n";
      };
      const auto plan = test::toy_plan(cluster_of(1), job("a", first) + job("b", !first), options);
      EXPECT_EQ(plan.has("a"), first);
      EXPECT_EQ(plan.has("b"), !first);
    }
  }
}

/// The job of the higher priority is placed although the other is worth more.
TEST_F(Priority, as_order_passes_over_values) {
  for (const Path& path : kPaths) {
    SCOPED_TRACE(path.name);
    for (const bool first : {true, false}) {
      PlanOptions options;
      options.order = JobOrder::priority;
      options.partition.shards = path.shards;
      const std::string high = R"("priority":1,"weight":0.25,)", low = R"("weight":1,)";
      const std::string jobs = "{\"id\":\"a\"," + (first ? high : low) + path.job +
                               "}\n{\"id\":\"b\"," + (first ? low : high) + path.job + "}\n";
      const auto plan = test::toy_plan(cluster_of(path.pods, path.queues), jobs, options);
      EXPECT_TRUE(plan.has(first ? "a" : "b"));
    }
  }
}

/// Three machines: the high job must not take the low one's without need, and with need it does.
TEST_F(Priority, as_order_displaces_running_jobs_only_with_need) {
  PlanOptions options;
  options.order = JobOrder::priority;
  const std::string runs =
      R"({"id":"runs","tasks":[{"gpus":8}],"running":{"stop_cost":5,"move_cost":5,)"
      R"("tasks":[{"machine":"m0","gpus":[{"index":0},{"index":1},{"index":2},{"index":3},)"
      R"({"index":4},{"index":5},{"index":6},{"index":7}]}]}})";
  const auto high = [](int tasks) {
    return R"({"id":"high","priority":7,"weight":0.01,"tasks":[{"gpus":8,"count":)" +
           std::to_string(tasks) + "}]}\n";
  };
  const auto spared = test::toy_plan(cluster_of(3), high(2) + runs + "\n", options);
  EXPECT_TRUE(spared.has("high"));
  ASSERT_TRUE(spared.has("runs"));
  EXPECT_EQ(spared.machines.at("runs"), std::vector<std::string>{"m0"});
  const auto stopped = test::toy_plan(cluster_of(3), high(3) + runs + "\n", options);
  EXPECT_TRUE(stopped.has("high") && !stopped.has("runs"));
}

TEST_F(Priority, as_order_takes_sixteen_priorities) {
  PlanOptions options;
  options.order = JobOrder::priority;
  const auto jobs = [](int classes) {
    std::string text;
    for (int j = 0; j < classes; ++j) {
      text += "{\"id\":\"j" + std::to_string(j) + "\",\"priority\":" + std::to_string(-3 * j) +
              ",\"tasks\":[{\"gpus\":1}]}\n";
    }
    return text;
  };
  const auto plan = test::toy_plan(cluster_of(1), jobs(16), options);
  for (int j = 0; j < 16; ++j) EXPECT_EQ(plan.has("j" + std::to_string(j)), j < 8);
  EXPECT_THROW((void)test::toy_plan(cluster_of(1), jobs(17), options), comm::AgreedError);
}

}  // namespace
}  // namespace berth::pipeline
