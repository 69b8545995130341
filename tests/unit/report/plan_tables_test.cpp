// SPDX-License-Identifier: Apache-2.0
#include "berth/report/plan_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/report/plan_difference.hpp"

namespace berth::report {
namespace {

/// Two racks of two machines with 4 GPUs; m4 is drained. Job "a" runs pinned on m3, "b" runs on m1.
model::Instance instance() {
  model::Instance result;
  result.cluster = io::parse_cluster(R"(
schema: 1
classes: {g: {gpu_type: A, gpus: 4}}
pods: [{id: p, racks: [{id: r1, machines: [{ids: "m[1-2]", class: g}]},
                       {id: r2, machines: [{ids: "m[3-4]", class: g}]}]}]
queues: [{id: all, gpu_quota: 10}, {id: team, parent: all, gpu_quota: 4}]
machine_states: [{ids: m4, state: drained}]
)",
                                     "c.yaml");
  result.workload = io::parse_jobs(
      R"({"id":"a","user":"bob","tasks":[{"count":1,"gpus":2}],"queue":"team","running":{"pinned":true,"tasks":[{"machine":"m3","gpus":[{"index":0},{"index":1}]}]}}
{"id":"b","tasks":[{"count":1,"gpus":4}],"running":{"tasks":[{"machine":"m1","gpus":[{"index":0},{"index":1},{"index":2},{"index":3}]}]}}
{"id":"c","user":"ada","tasks":[{"count":2,"gpus":1}],"queue":"team"}
{"id":"d","user":"ada","tasks":[{"count":4,"gpus":4}],"queue":"all"}
)",
      "j.jsonl", result.cluster);
  return result;
}

model::TaskPlacement task(int machine, std::uint64_t devices) {
  return {.machine = MachineId(machine), .devices = devices, .milli = 1000};
}

class PlanTables : public ::testing::Test {
 protected:
  model::Instance instance_ = instance();
  model::InstanceView view_{instance_};
  model::Placement placement_{{.job = JobId(1), .tasks = {task(1, 0b1111)}},
                              {.job = JobId(2), .tasks = {task(0, 0b1), task(0, 0b10)}}};
  std::vector<model::RawUnplacedJob> waiting_{{"d", "gang too large: 4 tasks"}};
  PlanContent content_{view_, placement_, waiting_};
};

TEST_F(PlanTables, count_every_gpu_of_a_rack_once) {
  EXPECT_EQ(table(content_, Grouping::rack),
            "rack   machines  GPUs  closed  pinned  planned  free  whole  used %\n"
            "r1            2     8       0       0        6     2      2    75.0\n"
            "r2            2     8       4       2        0     2      2    25.0\n"
            "total         4    16       4       2        6     4      4    50.0\n");
}

TEST_F(PlanTables, count_a_queue_in_all_above_it) {
  EXPECT_EQ(table(content_, Grouping::queue),
            "queue       quota  pinned  planned  used %  placed  waiting\n"
            "all            10       2        2    40.0       2        1\n"
            "  team          4       2        2   100.0       2        0\n"
            "(no queue)      -       0        4       -       1        0\n");
}

TEST_F(PlanTables, say_of_each_user_what_runs_and_what_waits) {
  EXPECT_EQ(table(content_, Grouping::user),
            "user       pinned  planned  placed  waiting  GPUs waiting\n"
            "(no user)       0        4       1        0             0\n"
            "ada             0        2       1        1            16\n"
            "bob             2        0       1        0             0\n");
}

TEST_F(PlanTables, say_of_each_job_where_it_is_or_why_it_waits) {
  EXPECT_EQ(table(content_, Grouping::job),
            "job   state  GPUs  type    width  machines, or why it waits\n"
            "a    pinned     2     A  machine  m3\n"
            "b     moved     4     A  machine  m2\n"
            "c    placed     2     A  machine  m1 x2\n"
            "d     waits    16     -        -  gang too large: 4 tasks\n");
}

TEST_F(PlanTables, begin_with_the_cluster) {
  EXPECT_EQ(header(content_),
            "cluster  4 machines in 2 racks and 1 pod, 16 GPUs (16 A), 1 machine closed\n"
            "jobs     2 placed, 1 waiting, 1 pinned; 2 were running\n");
}

TEST_F(PlanTables, are_at_most_80_columns_wide) {
  for (const auto& [word, grouping] : kGroupings) {
    const std::string text = table(content_, grouping);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      EXPECT_LE(end - at, 80U) << word;
      at = end + 1;
    }
  }
}

TEST_F(PlanTables, differ_from_what_runs_now) {
  const PlanDifference changes = difference(running_placement(instance_.workload), placement_);
  EXPECT_EQ(changes.moved, std::vector{JobId(1)});
  EXPECT_EQ(changes.placed, std::vector{JobId(2)});
  EXPECT_TRUE(changes.stopped.empty());
  EXPECT_TRUE(changes.kept.empty());
  EXPECT_EQ(difference(placement_, {}).stopped, (std::vector{JobId(1), JobId(2)}));
  EXPECT_EQ(difference(placement_, placement_).kept, (std::vector{JobId(1), JobId(2)}));
}

TEST_F(PlanTables, exchange_of_equal_tasks_is_no_move) {
  model::Placement other = placement_;
  std::swap(other[1].tasks[0], other[1].tasks[1]);
  EXPECT_TRUE(difference(placement_, other).moved.empty());
}

}  // namespace
}  // namespace berth::report
