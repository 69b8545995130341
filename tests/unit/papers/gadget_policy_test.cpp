// SPDX-License-Identifier: Apache-2.0
// GADGET in a simulation.
#include "tiny.hpp"

#include <string>

#include <gtest/gtest.h>

#include "berth/io/jobs_file.hpp"
#include "berth/papers/paper_policies.hpp"
#include "berth/sim/simulate.hpp"
#include "berth/sim/trace.hpp"

namespace berth::papers {
namespace {

std::string job_line(const std::string& name, int arrival, const std::string& rest) {
  return "{\"id\":\"" + name + "\",\"arrival\":" + std::to_string(arrival) +
         R"(,"duration":1200,"tasks":[{"shape":"task","count":1,"gpus":1}])" + rest + "}\n";
}

/// 1, 2 or 4 GPUs with linear speed-up.
const std::string kElastic =
    R"(,"configurations":[{"counts":{"task":4},"speed":4},{"counts":{"task":1},"speed":1},)"
    R"({"counts":{"task":2},"speed":2}])";

/// Seconds at which the jobs end on one machine of four GPUs.
std::vector<double> ends(const std::string& jobs) {
  test::Tiny tiny;
  const ClassId of = tiny.machine_class("m", tiny.type("X"), 4, 0, 0);
  tiny.pod();
  tiny.rack();
  tiny.machine(of);
  tiny.instance.workload = io::parse_jobs(jobs, "jobs.jsonl", tiny.instance.cluster);
  const speed::Profiles profiles;
  const auto policy = find_paper_policy("gadget")->make({tiny.instance, profiles, 1});
  const sim::Run run =
      sim::simulate(tiny.instance.cluster, sim::make_trace(tiny.instance, {}), *policy);
  std::vector<double> seconds;
  for (const auto& record : run.records)
    seconds.push_back(static_cast<double>(record.end()) / sim::kSecond);
  return seconds;
}

TEST(GadgetPolicy, OneJobTakesAllGpus) {
  EXPECT_NEAR(ends(job_line("a", 0, kElastic))[0], 300.0, 1.0);
}

TEST(GadgetPolicy, EqualJobsShareAndANewOneCatchesUp) {
  const auto equal = ends(job_line("a", 0, kElastic) + job_line("b", 0, kElastic));
  EXPECT_NEAR(equal[0], 600.0, 61.0);
  EXPECT_NEAR(equal[1], 600.0, 61.0);
  // The second one has the steeper utility, so the first waits until both have as much.
  const auto late = ends(job_line("a", 0, kElastic) + job_line("b", 240, kElastic));
  EXPECT_GT(late[0], 500.0);
  EXPECT_NEAR(late[1], 600.0, 61.0);
}

TEST(GadgetPolicy, WeightsDecide) {
  const auto end =
      ends(job_line("a", 0, kElastic + R"(,"weight":100)") + job_line("b", 0, kElastic));
  EXPECT_NEAR(end[0], 300.0, 1.0);
  EXPECT_NEAR(end[1], 600.0, 1.0);
}

TEST(GadgetPolicy, JobsOfOneSizeRunToo) {
  const auto end = ends(job_line("a", 0, "") + job_line("b", 0, ""));
  EXPECT_NEAR(end[0], 1200.0, 1.0);
  EXPECT_NEAR(end[1], 1200.0, 1.0);
}

}  // namespace
}  // namespace berth::papers
