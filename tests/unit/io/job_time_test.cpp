// SPDX-License-Identifier: Apache-2.0
// When jobs run and how long: read, written, in digests, and refused where no run keeps it.
#include "faults.hpp"

#include <array>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/model/digest.hpp"

namespace berth::io {
namespace {

using model::Dependency;
using model::Instance;
using model::TimeRules;

constexpr const char* kCluster = R"({schema: 1, classes: {a: {gpu_type: A, gpus: 8}},
  pods: [{id: p0, racks: [{id: r0, machines: [{ids: "m[0-3]", class: a}]}]}],
  queues: [{id: org}, {id: team, parent: org}]
)";
constexpr const char* kWindows = R"(, windows: [
  {machines: m0, from: 100, to: 200, kind: maintenance},
  {machines: m1, from: 100, to: 200, kind: reservation, for: {queues: [org], jobs: [mine]}}]
)";

Instance read(const std::string& jobs, const std::string& more = "") {
  Instance instance{.cluster = parse_cluster(kCluster + more + "}", "c.yaml"), .workload = {}};
  instance.workload = parse_jobs(jobs, "j.jsonl", instance.cluster);
  return instance;
}

std::string job(const std::string& members, const std::string& id = "j") {
  return R"({"id":")" + id + R"(","tasks":[{"shape":"w","count":4,"gpus":1},{"shape":"s"}])" +
         members + "}\n";
}

const TimeRules& time_of(const Instance& instance, std::size_t job = 0) {
  return instance.workload.time_of(instance.workload.jobs[job]);
}

/// Where the four workers and the server run on one machine.
std::string running(const std::string& machine, const std::string& members) {
  std::string tasks = R"({"shape":"s","machine":")" + machine + R"("})";
  for (const char* gpu : {"0", "1", "2", "3"}) {
    tasks += R"(,{"shape":"w","machine":")" + machine + R"(","gpus":[{"index":)" + gpu + "}]}";
  }
  return R"(,"running":{"tasks":[)" + tasks + "]" + members + "}";
}

TEST(ParseTime, reads_every_key) {
  const Instance i = read(job(R"(,"duration":3600,"limit":7200,"not_before":50,"deadline":9000)"
                              R"(,"preemptible":true,"checkpoint_every":600,"restart_cost":30)"));
  EXPECT_EQ(time_of(i), (TimeRules{.duration = 3600,
                                   .limit = 7200,
                                   .not_before = 50,
                                   .deadline = 9000,
                                   .checkpoint_every = 600,
                                   .restart_cost = 30,
                                   .preemptible = true}));
  EXPECT_EQ(time_of(i).seconds(), 3600);
  EXPECT_EQ(time_of(read(job(R"(,"limit":7200)"))).seconds(), 7200);
  EXPECT_EQ(time_of(read(job(""))).seconds(), model::kNotGiven);
}

TEST(ParseTime, reads_utilities_of_both_forms) {
  const Instance i = read(job(R"(,"limit":9,"utility":{"linear":[[0,1],[60,1],[90,0.25]]})") +
                          job(R"(,"limit":9,"utility":{"steps":[[0,0.5],[60,0]]})", "b"));
  EXPECT_EQ(i.workload.utilities[time_of(i, 0).utility],
            (model::Utility{.steps = false, .points = {{0, 1.0}, {60, 1.0}, {90, 0.25}}}));
  EXPECT_EQ(i.workload.utilities[time_of(i, 1).utility],
            (model::Utility{.steps = true, .points = {{0, 0.5}, {60, 0.0}}}));
}

TEST(ParseTime, reads_configurations_by_shape) {
  const Instance i = read(job(
      R"(,"configurations":[{"counts":{"w":2},"speed":0.6},{"counts":{"s":0,"w":8},"value":7}])"));
  EXPECT_EQ(i.workload.configurations[time_of(i).configurations],
            (std::vector<model::Configuration>{{.counts = {2, 1}, .speed = 0.6},
                                               {.counts = {8, 0}, .value = 7.0}}));
}

TEST(ParseTime, reads_which_jobs_end_before) {
  const Instance i =
      read(job(R"(,"after":["c","b","c"])", "a") + job(R"(,"after":["c"])", "b") + job("", "c"));
  EXPECT_EQ(
      i.workload.dependencies,
      (std::vector<Dependency>{{JobId(0), JobId(1)}, {JobId(0), JobId(2)}, {JobId(1), JobId(2)}}));
  EXPECT_EQ(i.workload.dependencies_of(JobId(0)).size(), 2U);
  EXPECT_EQ(i.workload.dependencies_of(JobId(1)).front().after, JobId(2));
  EXPECT_TRUE(i.workload.dependencies_of(JobId(2)).empty());
}

TEST(ParseTime, reads_how_long_running_jobs_go_on) {
  const Instance i = read(job(running("m0", R"(,"since":77)"), "a") +
                          job(running("m1", R"(,"remaining":88)"), "b"));
  EXPECT_EQ(i.workload.running[0].since, 77);
  EXPECT_EQ(i.workload.running[0].remaining, model::kNotGiven);
  EXPECT_EQ(i.workload.running[1].remaining, 88);
}

TEST(ParseTime, equal_times_share_a_row_and_no_times_are_row_0) {
  const char* all = R"(,"duration":5,"utility":{"steps":[[0,1],[9,0]]},"preemptible":false)";
  const Instance i = read(job("", "a") + job(all, "b") + job(all, "c") +
                          job(R"(,"not_before":0,"configurations":[])", "d"));
  EXPECT_EQ(i.workload.jobs[0].time, 0U);
  EXPECT_EQ(i.workload.jobs[1].time, 1U);
  EXPECT_EQ(i.workload.jobs[2].time, 1U);
  EXPECT_EQ(i.workload.jobs[3].time, 0U);
}

/// One job for each key, with a value that is no default.
const std::vector<std::string>& each_key() {
  static const std::vector<std::string> keys = {
      R"(,"duration":60)",
      R"(,"limit":60)",
      R"(,"not_before":60)",
      R"(,"limit":10,"deadline":60)",
      R"(,"after":["first"])",
      R"(,"limit":10,"utility":{"linear":[[0,1],[60,0]]})",
      R"(,"limit":10,"utility":{"steps":[[0,1],[60,0]]})",
      R"(,"configurations":[{"counts":{"w":3}}])",
      R"(,"configurations":[{"counts":{"w":3},"speed":2}])",
      R"(,"configurations":[{"counts":{"w":3},"value":2}])",
      R"(,"preemptible":true)",
      R"(,"checkpoint_every":60)",
      R"(,"restart_cost":60)",
      running("m2", R"(,"since":60)"),
      running("m3", R"(,"remaining":60)")};
  return keys;
}

TEST(WriteTime, written_text_reads_back_as_the_same_jobs) {
  std::string all = job("", "first");
  for (std::size_t k = 0; k < each_key().size(); ++k) {
    all += job(each_key()[k], "k" + std::to_string(k));
  }
  const Instance instance = read(all);
  const std::string text = jobs_text(instance);
  const Instance again = read(text);
  EXPECT_EQ(model::instance_digest(again), model::instance_digest(instance)) << text;
  EXPECT_EQ(jobs_text(again), text);
  EXPECT_EQ(again.workload.time_rules, instance.workload.time_rules);
  EXPECT_EQ(again.workload.dependencies, instance.workload.dependencies);
}

TEST(TimeDigest, every_key_changes_the_digest_of_the_instance) {
  const auto digest = [](const std::string& members) {
    return model::instance_digest(read(job("", "first") + job(members)));
  };
  std::vector<std::string> seen{digest(""), digest(running("m2", "")), digest(running("m3", "")),
                                digest(R"(,"limit":10)")};
  for (const std::string& key : each_key()) {
    const std::string changed = digest(key);
    for (const std::string& other : seen) EXPECT_NE(changed, other) << key;
    seen.push_back(changed);
  }
}

/// The digest of files without times is that of the first version of the format.
TEST(TimeDigest, of_jobs_without_times_is_unchanged) {
  EXPECT_EQ(model::instance_digest(read(job(""))).substr(0, 16), "ea5c954c01d67cc8");
}

/// On line 2.
std::string second(const std::string& members) { return job("", "first") + job(members); }

class BadTimes : public testing::TestWithParam<Fault> {};

TEST_P(BadTimes, are_refused_with_line_and_field) {
  expect_fault(GetParam(), [](const std::string& jobs) { return read(jobs, kWindows); });
}

const Fault kBadTimes[] = {
    {"zero_duration", second(R"(,"duration":0)"), 2, "duration", "0 seconds", "leave it out"},
    {"negative_limit", second(R"(,"limit":-5)"), 2, "limit", "-5 seconds"},
    {"long_duration", second(R"(,"duration":3155760001)"), 2, "duration", "at most 3155760000"},
    {"part_of_a_second", second(R"(,"duration":1.5)"), 2, "duration", "whole number"},
    {"zero_checkpoints", second(R"(,"checkpoint_every":0)"), 2, "checkpoint_every", "0 seconds"},
    {"negative_restart", second(R"(,"restart_cost":-1)"), 2, "restart_cost", "not be negative"},
    {"negative_not_before", second(R"(,"not_before":-1)"), 2, "not_before", "not be negative"},
    {"deadline_first", second(R"(,"duration":1,"not_before":60,"deadline":50)"), 2, "deadline",
     "50, but the job starts at 60 or later and takes 1 seconds"},
    {"deadline_too_near", second(R"(,"duration":30,"not_before":60,"deadline":89)"), 2, "deadline",
     "takes 30 seconds where it is fastest"},
    {"deadline_too_near_by_limit", second(R"(,"limit":30,"not_before":60,"deadline":89)"), 2,
     "deadline", "takes 30 seconds"},
    {"deadline_too_near_when_elastic",
     second(
         R"(,"duration":30,"speed":{"A":2},"deadline":4,"configurations":[{"counts":{"w":9},"speed":3}])"),
     2, "deadline", "takes 5 seconds"},
    {"deadline_without_end", second(R"(,"deadline":50)"), 2, "deadline", "has no end",
     "give one of them"},
    {"utility_without_end", second(R"(,"utility":{"steps":[[0,1]]})"), 2, "utility", "has no end"},
    {"limit_too_short", second(R"(,"duration":100,"speed":{"A":2},"limit":49)"), 2, "limit",
     "49 seconds, but the job takes 50"},
    {"after_unknown", second(R"(,"after":["frist"])"), 2, "after", "unknown job \"frist\"",
     "leave out those that have ended"},
    {"after_itself", second(R"(,"after":["j"])"), 2, "after", "\"j\" after \"j\""},
    {"cycle",
     job("", "first") + job(R"(,"after":["c"])", "a") + job(R"(,"after":["a"])", "b") +
         job(R"(,"after":["first","b"])", "c"),
     2, "after", R"("a" after "c" after "b" after "a")", "drop one"},
    {"after_no_list", second(R"(,"after":"first")"), 2, "after", "expected a list"},
    {"rising", second(R"(,"limit":9,"utility":{"linear":[[0,0.5],[60,0.6]]})"), 2,
     "utility.linear[1]", "factor 0.6 after 0.5", "never worth more"},
    {"factor", second(R"(,"limit":9,"utility":{"steps":[[0,1.5]]})"), 2, "utility.steps[0][1]",
     "at most 1"},
    {"negative_factor", second(R"(,"limit":9,"utility":{"steps":[[0,-1]]})"), 2,
     "utility.steps[0][1]", "not be negative"},
    {"unordered", second(R"(,"limit":9,"utility":{"steps":[[0,1],[9,1],[9,0]]})"), 2,
     "utility.steps[2]", "9 seconds after 9", "ascending"},
    {"late_first_point", second(R"(,"limit":9,"utility":{"steps":[[5,1]]})"), 2, "utility.steps[0]",
     "second 0"},
    {"both_forms", second(R"(,"limit":9,"utility":{"steps":[[0,1]],"linear":[[0,1]]})"), 2,
     "utility", "not both"},
    {"no_form", second(R"(,"limit":9,"utility":{})"), 2, "utility", "neither"},
    {"no_points", second(R"(,"limit":9,"utility":{"steps":[]})"), 2, "utility.steps", "no points"},
    {"no_pair", second(R"(,"limit":9,"utility":{"steps":[[0]]})"), 2, "utility.steps[0]",
     "[seconds, factor]"},
    {"unknown_shape", second(R"(,"configurations":[{"counts":{"x":2}}])"), 2,
     "configurations[0].counts.x", "no task group \"x\"", "\"w\""},
    {"no_counts", second(R"(,"configurations":[{"speed":2}])"), 2, "configurations[0].counts",
     "is missing"},
    {"no_tasks", second(R"(,"configurations":[{"counts":{"w":0,"s":0}}])"), 2,
     "configurations[0].counts", "no tasks"},
    {"no_speed", second(R"(,"configurations":[{"counts":{"w":1},"speed":0}])"), 2,
     "configurations[0].speed", "never ends"},
    {"equal_counts", second(R"(,"configurations":[{"counts":{}},{"counts":{"w":4}}])"), 2,
     "configurations[1]", "counts of an earlier"},
    {"pinned_preemptible", second(R"(,"preemptible":true)" + running("m2", R"(,"pinned":true)")), 2,
     "preemptible", "pinned"},
    {"since_and_remaining", second(running("m2", R"(,"since":1,"remaining":1)")), 2, "running",
     "\"since\" and \"remaining\""},
    {"remaining_over_limit", second(R"(,"limit":9)" + running("m2", R"(,"remaining":10)")), 2,
     "limit", "\"running.remaining\" says 10"},
    {"pinned_in_maintenance",
     second(R"(,"duration":101)" + running("m0", R"(,"since":0,"pinned":true)")), 2,
     "running.pinned", "holds machine \"m0\" until 101, which a window closes to it from 100",
     "change the window"},
    {"pinned_without_end", second(running("m0", R"(,"pinned":true)")), 2, "running.pinned",
     "without an end", "say when it ends"},
    {"pinned_on_a_reserved_machine",
     second(R"(,"limit":20)" + running("m1", R"(,"since":190,"pinned":true)")), 2, "running.pinned",
     "m1"},
};
INSTANTIATE_TEST_SUITE_P(Time, BadTimes, testing::ValuesIn(kBadTimes));

TEST(ParseTime, accepts_the_tightest_times_and_pinned_jobs_beside_windows) {
  for (const std::string& members : {
           std::string(R"(,"duration":30,"not_before":60,"deadline":90)"),
           std::string(R"(,"duration":30,"limit":15,"speed":{"A":2})"),
           R"(,"duration":100)" + running("m0", R"(,"since":0,"pinned":true)"),
           R"(,"duration":200,"speed":{"A":2})" + running("m0", R"(,"since":0,"pinned":true)"),
           R"(,"duration":9)" + running("m0", R"(,"since":200,"pinned":true)"),
           running("m0", R"(,"remaining":9,"pinned":true)"),
           running("m0", R"(,"since":150)"),
           R"(,"queue":"team")" + running("m1", R"(,"since":150,"pinned":true)"),
       }) {
    EXPECT_NO_THROW(read(job(members), kWindows)) << members;
  }
  EXPECT_NO_THROW(read(job(running("m1", R"(,"pinned":true)"), "mine"), kWindows));
}

TEST(KeysOfTime, are_those_that_an_instance_has) {
  const auto keys = [](const Instance& i) { return keys_of_time(i.cluster, i.workload); };
  EXPECT_EQ(keys(read(job("") + job(R"(,"not_before":0,"preemptible":false)", "b"))), "");
  std::string all = job("", "first");
  for (std::size_t k = 0; k < each_key().size(); ++k) {
    all += job(each_key()[k], "k" + std::to_string(k));
  }
  EXPECT_EQ(keys(read(all)),
            "duration, limit, not_before, deadline, after, utility, configurations, preemptible, "
            "checkpoint_every, restart_cost, running.since, running.remaining");
  Instance closed = read("", kWindows);
  closed.cluster.drain_deadlines = {{MachineId(0), 5}};
  closed.cluster.queues[1].gpu_hours = 0;
  EXPECT_EQ(keys(closed), "windows, machine_states.deadline, queues.gpu_hours");
}

}  // namespace
}  // namespace berth::io
