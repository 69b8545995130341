// SPDX-License-Identifier: Apache-2.0
// Windows, deadlines of drains and GPU-hour budgets in a cluster file.
#include "faults.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/model/digest.hpp"

namespace berth::io {
namespace {

using model::Cluster;
using model::MachineRange;
using model::Window;
using model::WindowKind;

constexpr const char* kPods = R"(schema: 1
classes: {a: {gpu_type: A, gpus: 8}}
pods: [{id: p0, racks: [{id: r0, machines: [{ids: "m[0-3]", class: a}]},
                        {id: r1, machines: [{ids: "m[4-7]", class: a}]}]},
       {id: p1, racks: [{id: r2, machines: [{ids: "n[0-1]", class: a}]}, {id: r3}]}]
)";

Cluster cluster(const std::string& more,
                const std::string& queues = "queues: [{id: q}, {id: r}]\n") {
  return parse_cluster(kPods + queues + more, "c.yaml");
}

std::string windows(const std::string& members) { return "windows: [{" + members + "}]\n"; }

std::string digest(const Cluster& cluster) {
  return model::instance_digest(model::Instance{.cluster = cluster, .workload = {}});
}

TEST(ParseWindows, reads_every_key) {
  const Cluster c = cluster(R"(windows:
  - {machines: [m2, r1, m3], from: 10, to: 20, kind: maintenance}
  - {machines: p1, from: 15, to: 30, kind: reservation, for: {jobs: [b, a, b], queues: [r, q]}}
  - {machines: "m[0-1]", from: 0, to: 1, kind: reservation}
)");
  ASSERT_EQ(c.windows.size(), 3U);
  const Window& first = c.windows[0];
  EXPECT_EQ(first.machines, (std::vector<MachineRange>{{2, 8}}));
  EXPECT_EQ(first.from, 10);
  EXPECT_EQ(first.to, 20);
  EXPECT_EQ(first.kind, WindowKind::maintenance);
  EXPECT_TRUE(first.jobs.empty() && first.queues.empty());
  EXPECT_EQ(c.windows[1].machines, (std::vector<MachineRange>{{8, 10}}));
  EXPECT_EQ(c.windows[1].kind, WindowKind::reservation);
  EXPECT_EQ(c.windows[1].jobs, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(c.windows[1].queues, (std::vector<QueueId>{QueueId(0), QueueId(1)}));
  EXPECT_EQ(c.windows[2].machines, (std::vector<MachineRange>{{0, 2}}));
}

TEST(ParseWindows, reads_deadlines_of_drains_and_hours_of_queues) {
  const Cluster c = cluster(
      "machine_states: [{ids: m5, state: drain, deadline: 99}, {ids: r0, state: drain, deadline: "
      "50}, {ids: m4, state: drain}]\n",
      "queues: [{id: q, gpu_hours: 500}, {id: r}]\n");
  EXPECT_EQ(c.drain_deadlines.size(), 5U);
  EXPECT_EQ(c.drain_deadlines.front().machine, MachineId(0));
  EXPECT_EQ(c.drain_deadlines.front().deadline, 50);
  EXPECT_EQ(c.drain_deadlines.back().machine, MachineId(5));
  EXPECT_EQ(c.drain_deadlines.back().deadline, 99);
  EXPECT_EQ(c.queues[0].gpu_hours, 500);
  EXPECT_EQ(c.queues[1].gpu_hours, -1);
}

TEST(ParseWindows, the_jobs_file_tells_which_jobs_a_window_means) {
  Cluster c =
      cluster(windows("machines: m0, from: 1, to: 2, kind: reservation, for: {jobs: [c, x, a]}"));
  std::string jobs;
  for (const char* id : {"a", "b", "c"})
    jobs += R"({"id":")" + std::string(id) + "\",\"tasks\":[{}]}\n";
  const model::Workload w = parse_jobs(jobs, "j.jsonl", c);
  EXPECT_EQ(c.windows[0].job_ids, (std::vector<JobId>{JobId(0), JobId(2)}));
  ASSERT_EQ(w.notes.size(), 1U);
  EXPECT_THAT(w.notes[0], testing::HasSubstr("has no job \"x\""));
}

/// A cluster for each key.
const std::vector<Cluster>& each_key() {
  static const std::vector<Cluster> all = {
      cluster(""),
      cluster("", "queues: [{id: q, gpu_hours: 5}, {id: r}]\n"),
      cluster("machine_states: [{ids: m0, state: drain}]\n"),
      cluster("machine_states: [{ids: m0, state: drain, deadline: 9}]\n"),
      cluster(windows("machines: m0, from: 1, to: 2, kind: maintenance")),
      cluster(windows("machines: m0, from: 1, to: 2, kind: reservation")),
      cluster(windows("machines: m0, from: 0, to: 2, kind: maintenance")),
      cluster(windows("machines: m0, from: 1, to: 3, kind: maintenance")),
      cluster(windows(R"(machines: ["m[0-2]", r2, m7], from: 1, to: 2, kind: maintenance)")),
      cluster(windows("machines: m0, from: 1, to: 2, kind: reservation, for: {jobs: [\"a b\"]}")),
      cluster(windows("machines: m0, from: 1, to: 2, kind: reservation, for: {queues: [q]}")),
      cluster(windows(
          "machines: m0, from: 1, to: 2, kind: reservation, for: {jobs: [a], queues: [q, r]}"))};
  return all;
}

TEST(WriteWindows, written_text_reads_back_as_the_same_cluster) {
  for (const Cluster& c : each_key()) {
    const std::string text = cluster_text(c);
    const Cluster again = parse_cluster(text, "again.yaml");
    EXPECT_EQ(digest(again), digest(c)) << text;
    EXPECT_EQ(cluster_text(again), text);
  }
}

TEST(WindowsDigest, every_key_changes_the_digest) {
  for (std::size_t a = 0; a < each_key().size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_NE(digest(each_key()[a]), digest(each_key()[b])) << a << ", " << b;
    }
  }
}

TEST(WindowsDigest, does_not_see_how_machines_are_named) {
  EXPECT_EQ(
      digest(cluster(windows("machines: r0, from: 1, to: 2, kind: maintenance"))),
      digest(cluster(windows("machines: [m3, \"m[0-2]\"], from: 1, to: 2, kind: maintenance"))));
}

class BadWindows : public testing::TestWithParam<Fault> {};

TEST_P(BadWindows, are_refused_with_line_and_field) {
  expect_fault(GetParam(), [](const std::string& more) { return cluster(more); });
}

const Fault kBadWindows[] = {
    {"ends_first", windows("machines: m0, from: 9, to: 8, kind: maintenance"), 7, "windows[0].to",
     "8 is not after \"from\", 9", "in seconds"},
    {"no_length", windows("machines: m0, from: 9, to: 9, kind: maintenance"), 7, "windows[0].to",
     "9 is not after"},
    {"unknown_machine", windows("machines: [r0, m8], from: 1, to: 2, kind: maintenance"), 7,
     "windows[0].machines[1]", "unknown machine \"m8\"", "racks and pods"},
    {"no_machine", windows("machines: r3, from: 1, to: 2, kind: maintenance"), 7,
     "windows[0].machines", "names no machine"},
    {"no_kind", windows("machines: m0, from: 1, to: 2"), 7, "windows[0]", "\"kind\" is missing"},
    {"unknown_kind", windows("machines: m0, from: 1, to: 2, kind: maintainance"), 7,
     "windows[0].kind", "unknown kind", "did you mean \"maintenance\"?"},
    {"negative", windows("machines: m0, from: -1, to: 2, kind: maintenance"), 7, "windows[0].from",
     "not be negative"},
    {"maintenance_for_jobs",
     windows("machines: m0, from: 1, to: 2, kind: maintenance, for: {jobs: [a]}"), 7,
     "windows[0].for", "no job runs", "kind: reservation"},
    {"for_nobody", windows("machines: m0, from: 1, to: 2, kind: reservation, for: {jobs: []}"), 7,
     "windows[0].for", "neither jobs nor queues", "without \"for\""},
    {"unknown_queue",
     windows("machines: m0, from: 1, to: 2, kind: reservation, for: {queues: [x]}"), 7,
     "windows[0].for.queues[0]", "unknown queue \"x\"", "\"q\""},
    {"deadline_of_reserved", "machine_states: [{ids: m0, state: reserved, deadline: 5}]\n", 7,
     "machine_states[0].deadline", "state drain", "say state: drain"},
};
INSTANTIATE_TEST_SUITE_P(Windows, BadWindows, testing::ValuesIn(kBadWindows));

}  // namespace
}  // namespace berth::io
