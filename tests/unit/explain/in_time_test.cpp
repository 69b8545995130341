// SPDX-License-Identifier: Apache-2.0
#include "berth/explain/in_time.hpp"

#include "with_petsc.hpp"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "berth/base/random.hpp"
#include "berth/certify/horizon_plan.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/horizon_plan_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/pipeline/plan_horizon.hpp"

namespace berth::explain {
namespace {

class InTime : public berth::test::WithPetsc<> {
 protected:
  model::RawHorizonPlan plan(const model::Instance& instance) {
    report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
    const pipeline::HorizonRequest request{
        .horizon = {.now = 0, .length = 200}, .keep = {}, .keep_price = {}};
    return io::parse_horizon_plan(
        io::horizon_plan_text(instance, pipeline::plan_horizon(instance, request, silent)), "plan");
  }
};

model::Instance instance_of(const std::string& cluster, const std::string& jobs) {
  model::Instance instance;
  instance.cluster = io::parse_cluster(cluster, "cluster.yaml");
  instance.workload = io::parse_jobs(jobs, "jobs.jsonl", instance.cluster);
  return instance;
}

/// Three machines, windows, and jobs that compete for nothing but GPUs.
model::Instance random_instance(std::uint64_t seed) {
  std::uint64_t draws = 0;
  const auto below = [&](std::uint64_t bound) { return random_below(bound, {seed, draws++}); };
  const std::uint64_t from = below(60);
  const std::string cluster = fmt::format(
      "schema: 1\nclasses: {{g: {{gpu_type: A, gpus: 4}}}}\n"
      "pods: [{{id: p, racks: [{{id: r, machines: [{{ids: \"m[0-2]\", class: g}}]}}]}}]\n"
      "windows: [{{machines: m{}, from: {}, to: {}, kind: maintenance}}]\n",
      below(3), from, from + 10 + below(30));
  std::string jobs;
  for (int j = 0; j < 9; ++j) {
    std::string more;
    if (below(4) == 0) more += fmt::format(R"(,"not_before":{})", 5 + below(60));
    if (j > 0 && below(4) == 0)
      more += fmt::format(R"(,"after":["j{}"])", below(static_cast<std::uint64_t>(j)));
    const std::string task =
        below(4) == 0 ? std::string(R"({"gpu_milli":600})")
                      : fmt::format(R"({{"count":{},"gpus":{}}})", 1 + below(2), 1 + below(4));
    jobs += fmt::format(R"({{"id":"j{}","duration":{},"tasks":[{}]{}}})", j, 10 + below(40), task,
                        more) +
            "\n";
  }
  return instance_of(cluster, jobs);
}

/// Faults of placements, not of figures, when the job starts a second earlier.
bool refused_earlier(const model::Instance& instance, model::RawHorizonPlan plan, JobId job) {
  const auto name = instance.workload.job_names[job.index()];
  for (std::size_t p = 0; p < plan.plan.placements.size(); ++p) {
    if (plan.plan.placements[p].job != name) continue;
    --plan.plan.placements[p].start;
    if (plan.ends[p]) --*plan.ends[p];
  }
  for (const certify::Fault& fault : certify::check_horizon(instance, plan).checked.faults) {
    if (fault.kind != certify::FaultKind::missing_entry &&
        fault.kind < certify::FaultKind::wrong_required_missing) {
      return true;
    }
  }
  return false;
}

TEST_F(InTime, a_start_is_explained_exactly_where_the_judge_refuses_an_earlier_one) {
  int not_before = 0, after = 0, leave = 0, open = 0, free = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const model::Instance instance = random_instance(seed);
    const model::RawHorizonPlan raw = plan(instance);
    const PlannedStarts starts(instance, raw);
    for (std::size_t j = 0; j < instance.workload.size(); ++j) {
      const auto start = starts.of(JobId(j));
      if (!start || start->begins) continue;
      EXPECT_EQ(start->explained(), refused_earlier(instance, raw, JobId(j)))
          << text(instance, raw.now, *start);
      not_before += start->not_before ? 1 : 0;
      after += start->after.empty() ? 0 : 1;
      leave += start->leave.empty() ? 0 : 1;
      open += start->open.empty() ? 0 : 1;
      free += start->explained() ? 0 : 1;
    }
  }
  EXPECT_GT(not_before, 0);
  EXPECT_GT(after, 0);
  EXPECT_GT(leave, 0);
  EXPECT_GT(open, 0);
  RecordProperty("starts_that_could_be_earlier", free);
}

TEST_F(InTime, names_whose_gpus_it_takes_over_and_when) {
  const model::Instance instance = instance_of(
      "schema: 1\nclasses: {g: {gpu_type: A, gpus: 4}}\n"
      "pods: [{id: p, racks: [{id: r, machines: [{ids: m0, class: g}]}]}]\n",
      R"({"id":"first","duration":3600,"weight":9,"tasks":[{"gpus":4}]}
{"id":"second","duration":60,"tasks":[{"gpus":2}],"after":["first"]}
)");
  model::RawHorizonPlan raw;
  raw.plan.placements = {
      {.job = "first",
       .start = 0,
       .tasks = {{.shape = "task",
                  .machine = "m0",
                  .gpus = {{0, 1000}, {1, 1000}, {2, 1000}, {3, 1000}}}}},
      {.job = "second",
       .start = 3600,
       .tasks = {{.shape = "task", .machine = "m0", .gpus = {{0, 1000}, {1, 1000}}}}}};
  raw.ends = {3600, 3660};
  const PlannedStarts starts(instance, raw);
  EXPECT_EQ(text(instance, 0, *starts.of(JobId(0))),
            "  starts now, at 0; ends at 3600, after 1 h\n  runs on m0\n");
  EXPECT_EQ(text(instance, 0, *starts.of(JobId(1))),
            "  starts at 3600, 1 h from now; ends at 3660, after 1 min\n  runs on m0\n"
            "  a second earlier each of these would refuse it there:\n"
            "    after: it must wait for the end of first\n"
            "    GPUs that it takes over from first\n");
}

}  // namespace
}  // namespace berth::explain
