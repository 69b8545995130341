// SPDX-License-Identifier: Apache-2.0
// Number of shards where jobs run.
#include "with_petsc.hpp"

#include <string>

#include <gtest/gtest.h>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/pipeline/plan_cluster.hpp"

namespace berth::pipeline {
namespace {

class RunningShards : public berth::test::WithPetsc<> {};

/// Shards of two pods of 4,096 GPUs, by default with a quota, where a job of two machines runs on
/// m0 and `second`.
double shards(const std::string& second, const PlanOptions& options = {},
              const std::string& queues = ", queues: [{id: u, gpu_quota: 9}]") {
  model::Instance instance{
      .cluster = io::parse_cluster(
          "{schema: 1, classes: {g: {gpu_type: A, gpus: 8, cpu_milli: 8000}}, pods: ["
          "{id: p, racks: [{id: r, machines: [{ids: \"m[0-511]\", class: g}]}]}, "
          "{id: q, racks: [{id: s, machines: [{ids: \"m[512-1023]\", class: g}]}]}]" +
              queues + "}",
          "c.yaml"),
      .workload = {}};
  const std::string gpus = R"("gpus":[{"index":0}]})";
  instance.workload =
      io::parse_jobs(R"({"id":"a","tasks":[{"count":2,"gpus":1}],"running":{"move_cost":1,)"
                     R"("tasks":[{"machine":"m0",)" +
                         gpus + R"(,{"machine":")" + second + "\"," + gpus + "]}}",
                     "j.jsonl", instance.cluster);
  report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
  return plan_cluster(comm::Communicator::serial(), instance, options, silent).stats.at("shards");
}

TEST_F(RunningShards, are_one_when_limits_couple_running_jobs_of_several) {
  EXPECT_EQ(shards("m1"), 2.0);
  EXPECT_EQ(shards("m1023"), 1.0);
  EXPECT_EQ(shards("m1023", {}, ""), 2.0);
}

TEST_F(RunningShards, are_as_many_as_asked_for) {
  PlanOptions options;
  options.partition.shards = 2;
  EXPECT_EQ(shards("m1023", options), 2.0);
}

}  // namespace
}  // namespace berth::pipeline
