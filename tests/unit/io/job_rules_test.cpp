// SPDX-License-Identifier: Apache-2.0
// Rules of jobs about their machines: read, written, in digests, and refused where no placement
// keeps them.
#include "faults.hpp"

#include <string>

#include <gtest/gtest.h>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/model/digest.hpp"

namespace berth::io {
namespace {

using model::Instance;
using model::PlacementRules;

Instance with_jobs(const std::string& text) {
  Instance instance{.cluster = parse_cluster(
                        R"({schema: 1, classes: {a: {gpu_type: A, gpus: 8}},
      pods: [{id: p0, racks: [{id: r0, machines: [{ids: "m[0-1]", class: a}]},
                              {id: r1, machines: [{ids: m2, class: a}]}]}]})",
                        "c.yaml"),
                    .workload = {}};
  instance.workload = parse_jobs(text, "j.jsonl", instance.cluster);
  return instance;
}

const PlacementRules& rules(const Instance& instance, std::size_t job) {
  return instance.workload.rules_of(instance.workload.jobs[job]);
}

std::string job(const std::string& members, const std::string& id = "j") {
  return R"({"id":")" + id + R"(","tasks":[{"count":4,"gpus":1}])" + members + "}\n";
}

TEST(ParseRules, reads_every_key) {
  const Instance instance = with_jobs(job(
      R"(,"max_tasks_per":{"machine":2,"rack":3},"min_domains":{"rack":2},"exclusive":"machine")"
      R"(,"labels":["b","a","b"],"not_with":["c"])"));
  const PlacementRules& read = rules(instance, 0);
  EXPECT_EQ(read.max_tasks, (model::DomainCounts{2, 3, PlacementRules::kAnyNumber}));
  EXPECT_EQ(read.min_domains, (model::DomainCounts{1, 2, 1}));
  EXPECT_TRUE(read.exclusive);
  EXPECT_EQ(read.labels, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read.not_with, (std::vector<std::string>{"c"}));
  EXPECT_EQ(model::narrowest_width(read, 4), model::Level::pod);
}

TEST(ParseRules, equal_rules_share_a_row_and_no_rules_are_row_0) {
  const Instance instance = with_jobs(job("", "a") + job(R"(,"labels":["x","y"])", "b") +
                                      job(R"(,"labels":["y","x","x"])", "c") +
                                      job(R"(,"labels":[],"max_tasks_per":{})", "d"));
  EXPECT_EQ(instance.workload.jobs[0].rules, 0U);
  EXPECT_EQ(instance.workload.jobs[1].rules, instance.workload.jobs[2].rules);
  EXPECT_NE(instance.workload.jobs[1].rules, 0U);
  EXPECT_EQ(instance.workload.jobs[3].rules, 0U);
}

TEST(ParseRules, labels_concern_others_only_if_some_job_avoids_them) {
  const Instance alone = with_jobs(job(R"(,"labels":["x"])"));
  EXPECT_FALSE(rules(alone, 0).concern_others);
  const Instance avoided =
      with_jobs(job(R"(,"labels":["x"])", "a") + job(R"(,"not_with":["x"])", "b") +
                job(R"(,"max_tasks_per":{"machine":1})", "c"));
  EXPECT_TRUE(rules(avoided, 0).concern_others);
  EXPECT_TRUE(rules(avoided, 1).concern_others);
  EXPECT_FALSE(rules(avoided, 2).concern_others);
  EXPECT_FALSE(model::may_share_machine(rules(avoided, 0), rules(avoided, 1)));
  EXPECT_FALSE(model::may_share_machine(rules(avoided, 1), rules(avoided, 0)));
  EXPECT_TRUE(model::may_share_machine(rules(avoided, 0), rules(avoided, 2)));
}

constexpr const char* kLicensed = R"({schema: 1, classes: {a: {gpu_type: A, gpus: 8}},
      pods: [{id: p0, racks: [{id: r0, machines: [{ids: m0, class: a}]}]}],
      licenses: {matlab: 4, ansys: 2}})";

TEST(Licenses, of_cluster_and_jobs_are_read_and_written) {
  Instance instance{.cluster = parse_cluster(kLicensed, "c.yaml"), .workload = {}};
  ASSERT_EQ(instance.cluster.licenses.size(), 2U);
  EXPECT_EQ(instance.cluster.licenses[0].name, "ansys");
  EXPECT_EQ(instance.cluster.licenses[1].count, 4);
  instance.workload = parse_jobs(job(R"(,"licenses":{"matlab":3,"ansys":1})", "a") + job("", "b") +
                                     job(R"(,"licenses":{"ansys":1,"matlab":3})", "c"),
                                 "j.jsonl", instance.cluster);
  EXPECT_EQ(rules(instance, 0).licenses, (std::vector<model::LicenseUse>{{0, 1}, {1, 3}}));
  EXPECT_EQ(instance.workload.jobs[0].rules, instance.workload.jobs[2].rules);
  Instance again{.cluster = parse_cluster(cluster_text(instance.cluster), "c.yaml"),
                 .workload = {}};
  again.workload = parse_jobs(jobs_text(instance), "j.jsonl", again.cluster);
  EXPECT_EQ(jobs_text(again), jobs_text(instance));
  EXPECT_EQ(model::instance_digest(again), model::instance_digest(instance));
  const std::string before = model::instance_digest(instance);
  instance.cluster.licenses[0].count = 1;
  EXPECT_NE(model::instance_digest(instance), before);
}

TEST(Licenses, that_are_wrong_are_refused) {
  const auto read = [](const std::string& text) {
    model::Cluster cluster = parse_cluster(kLicensed, "c.yaml");
    (void)parse_jobs(text, "j.jsonl", cluster);
  };
  expect_fault({.name = "unknown",
                .text = job(R"(,"licenses":{"matlap":1})"),
                .line = 1,
                .field = "licenses",
                .problem = "unknown license \"matlap\"",
                .hint = "did you mean \"matlab\"?"},
               read);
  expect_fault({.name = "zero",
                .text = job(R"(,"licenses":{"matlab":0})"),
                .line = 1,
                .field = "licenses.matlab",
                .problem = "1"},
               read);
  expect_fault({.name = "twice",
                .text = job(R"(,"licenses":{"matlab":1,"matlab":1})"),
                .line = 1,
                .field = "licenses.matlab",
                .problem = "given twice"},
               read);
  expect_fault({.name = "twice in the cluster",
                .text = "schema: 1\nlicenses: {a: 1, a: 2}\n",
                .line = 2,
                .field = "licenses.a",
                .problem = "license \"a\" is given twice"},
               [](const std::string& text) { (void)parse_cluster(text, "c.yaml"); });
}

TEST(Titles, are_read_and_written_and_in_no_digest) {
  const Instance plain = with_jobs(job("", "a") + job("", "b") + job("", "c"));
  const Instance titled = with_jobs(job(R"(,"name":"train","user":"ada")", "a") + job("", "b") +
                                    job(R"(,"user":"bob")", "c"));
  const model::JobTitles& titles = titled.workload.titles;
  EXPECT_EQ(titles.name_of(JobId(0)), "train");
  EXPECT_EQ(titles.user_of(JobId(0)), "ada");
  EXPECT_EQ(titles.user_of(JobId(1)), "");
  EXPECT_EQ(titles.name_of(JobId(2)), "");
  EXPECT_EQ(titles.user_of(JobId(2)), "bob");
  EXPECT_EQ(model::instance_digest(titled), model::instance_digest(plain));
  EXPECT_EQ(jobs_text(with_jobs(jobs_text(titled))), jobs_text(titled));
  EXPECT_EQ(plain.workload.titles.job.size(), 0U);
}

TEST(WriteRules, written_text_reads_back_as_the_same_jobs) {
  const Instance instance = with_jobs(
      job("", "a") + job(R"(,"max_tasks_per":{"pod":3,"machine":1})", "b") +
      job(R"(,"min_domains":{"machine":4},"exclusive":"machine")", "c") +
      job(R"(,"not_with":["z","y"],"labels":["x"])", "d") +
      job(R"(,"labels":["y"],"running":{"pinned":true,"tasks":[{"machine":"m0","gpus":[{"index":0}]},)"
          R"({"machine":"m0","gpus":[{"index":1}]},{"machine":"m0","gpus":[{"index":2}]},)"
          R"({"machine":"m0","gpus":[{"index":3}]}]})",
          "e"));
  const std::string text = jobs_text(instance);
  const Instance again = with_jobs(text);
  EXPECT_EQ(model::instance_digest(again), model::instance_digest(instance)) << text;
  EXPECT_EQ(jobs_text(again), text);
  EXPECT_EQ(again.workload.rules, instance.workload.rules);
  EXPECT_EQ(again.workload.running[0].rules, again.workload.jobs[4].rules);
}

TEST(RulesDigest, every_rule_changes_the_digest_of_the_instance) {
  const std::string without = model::instance_digest(with_jobs(job("")));
  for (const char* rule : {R"(,"max_tasks_per":{"machine":2})", R"(,"max_tasks_per":{"rack":2})",
                           R"(,"min_domains":{"machine":2})", R"(,"exclusive":"machine")",
                           R"(,"labels":["x"])", R"(,"not_with":["x"])"}) {
    EXPECT_NE(model::instance_digest(with_jobs(job(rule))), without) << rule;
  }
  EXPECT_NE(model::instance_digest(with_jobs(job(R"(,"labels":["x"])"))),
            model::instance_digest(with_jobs(job(R"(,"not_with":["x"])"))));
}

/// On line 2.
std::string second(const std::string& members) { return job("", "first") + job(members); }

class BadRules : public testing::TestWithParam<Fault> {};

TEST_P(BadRules, are_refused_with_line_and_field) { expect_fault(GetParam(), with_jobs); }

const Fault kBadRules[] = {
    {"no_tasks", second(R"(,"max_tasks_per":{"machine":0})"), 2, "max_tasks_per.machine",
     "at least 1"},
    {"no_domains", second(R"(,"min_domains":{"rack":0})"), 2, "min_domains.rack", "at least 1"},
    {"of_the_cluster", second(R"(,"max_tasks_per":{"cluster":1})"), 2, "max_tasks_per.cluster",
     "unknown key"},
    {"more_domains_than_tasks", second(R"(,"min_domains":{"machine":5})"), 2, "min_domains",
     "5 machines, but the job has 4 tasks"},
    {"domains_in_one", second(R"(,"domain":"rack","min_domains":{"rack":2})"), 2, "min_domains",
     "2 racks, but the job's \"domain\" is rack", "leave out"},
    {"machines_in_one", second(R"(,"min_domains":{"machine":2},"domain":"machine")"), 2,
     "min_domains", "2 machines, but the job's \"domain\" is machine"},
    {"tasks_in_one", second(R"(,"max_tasks_per":{"rack":3},"domain":"rack")"), 2, "max_tasks_per",
     "3 tasks in a rack, but the job's \"domain\" is rack and it has 4 tasks"},
    {"exclusive", second(R"(,"exclusive":"rack")"), 2, "exclusive", "unknown level \"rack\"",
     "machine"},
    {"exclusive_true", second(R"(,"exclusive":true)"), 2, "exclusive", "expected text"},
    {"label", second(R"(,"labels":[""])"), 2, "labels[0]", "empty"},
    {"not_with_itself", second(R"(,"labels":["x","y"],"not_with":["y"])"), 2, "not_with",
     "the job itself has the label \"y\""},
    {"misspelt", second(R"(,"max_task_per":{})"), 2, "max_task_per", "unknown key",
     "did you mean \"max_tasks_per\"?"},
    {"runs_too_many_together",
     R"({"id":"a","tasks":[{"count":2,"gpus":1}],"max_tasks_per":{"machine":1},"running":{"tasks":[)"
     R"({"machine":"m0","gpus":[{"index":0}]},{"machine":"m0","gpus":[{"index":1}]}]}})",
     1, "running.tasks", "has 2 tasks in one machine", "pinned"},
    {"runs_in_one_rack",
     R"({"id":"a","tasks":[{"count":2,"gpus":1}],"min_domains":{"rack":2},"running":{"tasks":[)"
     R"({"machine":"m0","gpus":[{"index":0}]},{"machine":"m1","gpus":[{"index":1}]}]}})",
     1, "running.tasks", "has tasks in 1 rack", "pinned"},
    {"run_together",
     R"({"id":"a","tasks":[{"gpus":1}],"labels":["x"],"running":{"tasks":[{"machine":"m0","gpus":[{"index":0}]}]}})"
     "\n"
     R"({"id":"b","tasks":[{"gpus":1}],"not_with":["x"],"running":{"tasks":[{"machine":"m0","gpus":[{"index":1}]}]}})",
     2, "running.tasks", "beside job \"a\"", "pinned"},
};
INSTANTIATE_TEST_SUITE_P(Rules, BadRules, testing::ValuesIn(kBadRules));

}  // namespace
}  // namespace berth::io
