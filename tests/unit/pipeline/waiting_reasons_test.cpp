// SPDX-License-Identifier: Apache-2.0
// Why jobs wait, in words that are true of the plan.
#include "with_petsc.hpp"

#include <string>

#include <gtest/gtest.h>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/pipeline/plan_cluster.hpp"

namespace berth::pipeline {
namespace {

/// Two racks of one pod, each with two machines of 8 GPUs. @param end  further keys
std::string cluster(const std::string& of_rack = "", const std::string& end = "") {
  return "{schema: 1, classes: {g: {gpu_type: A, gpus: 8, cpu_milli: 8000}}, pods: [{id: p, racks: "
         "[{id: r0" +
         of_rack + ", machines: [{ids: \"m[0-1]\", class: g}]}, {id: r1" + of_rack +
         ", machines: [{ids: \"m[2-3]\", class: g}]}]}]" + end + "}";
}

/// Reasons of the waiting jobs, one in a line.
std::string reasons(const std::string& cluster_text, const std::string& jobs_text) {
  model::Instance instance{.cluster = io::parse_cluster(cluster_text, "c.yaml"), .workload = {}};
  instance.workload = io::parse_jobs(jobs_text, "j.jsonl", instance.cluster);
  report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
  const model::Plan plan = plan_cluster(comm::Communicator::serial(), instance, {}, silent);
  std::string text;
  for (const model::UnplacedJob& w : plan.waiting) text += w.reason + "\n";
  return text;
}

class WaitingReasons : public berth::test::WithPetsc<> {};

TEST_F(WaitingReasons, name_what_free_room_lacks_and_what_gpus_cost) {
  const std::string text =
      reasons(cluster(), R"({"id":"a","tasks":[{"count":3,"gpus":8}],"weight":2})"
                         "\n"
                         R"({"id":"b","tasks":[{"count":2,"gpus":8}]})");
  EXPECT_EQ(text.substr(0, text.find(';')),
            "no room: the free room of one cluster holds 1 of 2 tasks 'task' (8 GPUs of type A are "
            "free)");
  EXPECT_NE(text.find("it is worth 16, its GPUs cost"), std::string::npos) << text;
}

TEST_F(WaitingReasons, name_the_best_domain) {
  const std::string text =
      reasons(cluster(), R"({"id":"a","tasks":[{"count":3,"gpus":5}],"required":true})"
                         "\n"
                         R"({"id":"d","tasks":[{"count":2,"gpus":8}],"domain":"rack"})");
  EXPECT_EQ(text.substr(0, text.find(';')),
            "no room: rack r1 holds 1 of 2 tasks 'task' (17 GPUs of type A are free)");
}

std::string with_soft_quota(const std::string& penalty) {
  return cluster("", ", queues: [{id: q, gpu_quota: 24, over_quota_penalty: " + penalty + "}]");
}

/// Beyond the quota it would cost 1.6 of 16, but there is no room for it.
TEST_F(WaitingReasons, blame_soft_quotas_only_for_jobs_that_are_not_worth_going_over) {
  const std::string room = reasons(
      with_soft_quota("0.1"), R"({"id":"a","tasks":[{"count":3,"gpus":8}],"weight":2,"queue":"q"})"
                              "\n"
                              R"({"id":"b","tasks":[{"count":2,"gpus":8}],"queue":"q"})");
  EXPECT_TRUE(room.starts_with("no room: ")) << room;
  EXPECT_NE(room.find(" and its quotas 1.6"), std::string::npos) << room;
  const std::string quota = reasons(
      with_soft_quota("2"), R"({"id":"a","tasks":[{"count":3,"gpus":8}],"weight":2,"queue":"q"})"
                            "\n"
                            R"({"id":"b","tasks":[{"gpus":8}],"queue":"q"})");
  EXPECT_EQ(quota, "quota: queue 'q' has 24 GPUs, and the job is not worth going over\n");
}

/// An empty cluster: nobody took the room.
TEST_F(WaitingReasons, blame_uplinks_in_an_empty_cluster) {
  const std::string text = reasons(
      cluster(", uplink_gbps: 1"),
      R"({"id":"a","tasks":[{"shape":"w","count":4,"gpus":8},{"shape":"s","cpu_milli":100}],)"
      R"("communication":{"pattern":"ps","gbps":5,"servers":"s"}})");
  EXPECT_EQ(text.substr(0, text.find(';')),
            "uplinks: free machines may hold its tasks, but no placement was found whose 5 Gbit/s "
            "the uplinks carry\n");
}

TEST_F(WaitingReasons, name_evacuated_machines) {
  const std::string text =
      reasons(cluster("", ", machine_states: [{ids: m0, state: drain}]"),
              R"({"id":"a","tasks":[{"count":3,"gpus":8}],"weight":9})"
              "\n"
              R"({"id":"b","tasks":[{"gpus":1}],)"
              R"("running":{"tasks":[{"machine":"m0","gpus":[{"index":0}]}]}})");
  EXPECT_EQ(text.substr(0, text.find(" (")),
            "stopped, a machine of it is evacuated; no room: no machine holds one of 1 tasks "
            "'task'");
}

}  // namespace
}  // namespace berth::pipeline
