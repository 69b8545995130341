// SPDX-License-Identifier: Apache-2.0
#include "berth/report/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"

namespace berth::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// One machine and jobs with names that would act if they were not escaped.
model::Instance hostile() {
  model::Instance result;
  result.cluster = io::parse_cluster(R"(
schema: 1
classes: {g: {gpu_type: "</script><b>", gpus: 4}}
pods: [{id: "p<i>", racks: [{id: "r&amp;\"'", machines: [{ids: "m</script>1", class: g}]}]}]
queues: [{id: "<img src=x onerror=alert(1)>", gpu_quota: 4}]
)",
                                     "c.yaml");
  result.workload = io::parse_jobs(
      R"({"id":"</script><script>alert(1)</script>","tasks":[{"gpus":1}]}
{"id":"<!-- \u202e x","tasks":[{"gpus":9}]}
)",
      "j.jsonl", result.cluster);
  return result;
}

class Page : public ::testing::Test {
 protected:
  Page() {
    file_.figures.objective = 1.0;
    file_.figures.upper_bound = 4.0;
    file_.figures.gap = 0.75;
  }
  [[nodiscard]] std::string text() const {
    return page({.now = {view_, placement_, waiting_}, .file = file_});
  }

  model::Instance instance_ = hostile();
  model::InstanceView view_{instance_};
  model::Placement placement_{
      {.job = JobId(0), .tasks = {{.machine = MachineId(0), .devices = 1, .milli = 1000}}}};
  std::vector<model::RawUnplacedJob> waiting_{{"<!-- \xe2\x80\xae x", "too large <b>"}};
  model::RawPlan file_;
};

TEST_F(Page, is_the_same_for_the_same_content) { EXPECT_EQ(text(), text()); }

TEST_F(Page, takes_no_markup_from_names) {
  const std::string all = text();
  for (const char* word : {"<script>alert", "<img src=x", "<i>", "m</script>", "<!-- ", "<b>"}) {
    EXPECT_THAT(all, Not(HasSubstr(word)));
  }
  EXPECT_THAT(all, HasSubstr("&lt;img src=x onerror=alert(1)&gt;"));
  EXPECT_THAT(all, HasSubstr("m\\u003c/script\\u003e1"));
}

TEST_F(Page, has_the_figures_of_the_plan) {
  EXPECT_THAT(text(), HasSubstr("<data data-figure=\"gap\" value=\"0.75\">75.0000 %</data>"));
  EXPECT_THAT(text(), HasSubstr("<data data-figure=\"gpus_free\" value=\"3\">3</data>"));
  EXPECT_THAT(text(), HasSubstr("<data data-figure=\"jobs_waiting\" value=\"1\">1</data>"));
}

TEST_F(Page, draws_the_rounds_of_the_plan) {
  EXPECT_THAT(text(), Not(HasSubstr("<section id=\"course\"")));
  file_.rounds = {{.objective = 0.5, .upper_bound = 4.0}, {.objective = 1.0, .upper_bound = 4.0}};
  EXPECT_THAT(text(), HasSubstr("Objective and bound by round: from 0.5 to 4"));
}

}  // namespace
}  // namespace berth::report
