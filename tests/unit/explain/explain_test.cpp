// SPDX-License-Identifier: Apache-2.0
#include "berth/explain/explain.hpp"

#include "random_tiny.hpp"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "berth/certify/check.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/plan_file.hpp"
#include "berth/planner_model/coupling_limits.hpp"
#include "berth/solver/make_room.hpp"

namespace berth::explain {
namespace {

/// A plan by first fit in the order of the jobs.
model::Placement first_fit(const model::Instance& instance) {
  const planner_model::Valuation valuation(model::InstanceView(instance), model::Objective::value);
  const planner_model::CouplingLimits limits(model::InstanceView(instance),
                                             model::Objective::value);
  std::vector<MachineId> machines;
  for (std::size_t m = 0; m < instance.cluster.machines(); ++m) machines.emplace_back(m);
  solver::Occupancy occupancy(valuation, machines, &limits);
  for (std::size_t l = 0; l < limits.size(); ++l) {
    occupancy.limit_usage().allow(l, limits.capacity(l));
  }
  for (const JobId job : model::planned_jobs(instance.workload)) {
    occupancy.admit(job);
    if (auto placed = solver::find_room(occupancy, job)) occupancy.take(*std::move(placed));
  }
  return occupancy.placement();
}

bool places(const model::Placement& placement, JobId job) {
  return std::ranges::binary_search(placement, job, {}, &model::JobPlacement::job);
}

/// Faults of the plan with this placement, figures aside.
std::string faults(const model::Instance& instance, const model::Placement& placement) {
  model::Plan plan;
  plan.instance_digest = model::instance_digest(instance);
  plan.plan_digest = model::plan_digest(instance, placement);
  plan.placements = placement;
  for (const JobId job : model::planned_jobs(instance.workload)) {
    if (!places(placement, job)) plan.waiting.push_back({job, "waits"});
  }
  const model::RawPlan raw = io::parse_plan(io::plan_text(instance, plan), "plan.json");
  std::string text;
  for (const certify::Fault& fault : certify::check(instance, raw).faults) {
    if (fault.kind == certify::FaultKind::missing_entry ||
        fault.kind >= certify::FaultKind::wrong_required_missing) {
      continue;  // of figures
    }
    text += "; " + std::string(certify::name(fault.kind)) + ": " + fault.text;
  }
  return text;
}

/// The instance with the change made in its files.
model::Instance changed(model::Instance instance, JobId job, const Change& change) {
  model::Job& record = instance.workload.jobs[job.index()];
  if (change.kind == ChangeKind::domain) record.domain = change.domain;
  if (change.kind == ChangeKind::gpu_type) record.gpu_types |= change.gpu_types;
  if (change.kind == ChangeKind::count) {
    instance.workload.groups[record.first_group].count = change.count;
  }
  if (change.kind == ChangeKind::quota) {
    instance.cluster.queues[change.queue.index()].gpu_quota = change.quota;
  }
  if (change.kind == ChangeKind::license) {
    instance.cluster.licenses[change.license].count = change.licenses;
  }
  return instance;
}

/// The plan with the job in it, as the change says.
model::Placement changed(const model::Placement& plan, const Change& change) {
  model::Placement result;
  const auto goes = [&](JobId job) {
    return std::ranges::find(change.stopped, job) != change.stopped.end() ||
           places(change.moved, job);
  };
  for (const model::JobPlacement& placed : plan) {
    if (!goes(placed.job)) result.push_back(placed);
  }
  result.insert(result.end(), change.moved.begin(), change.moved.end());
  result.push_back(change.placement);
  std::ranges::sort(result, {}, &model::JobPlacement::job);
  return result;
}

using Seen = std::array<int, 7>;  ///< changes by kind

/// True when the job fits once this one has left.
bool fits_without(const model::Instance& instance, const model::Placement& plan, JobId job,
                  JobId gone) {
  model::Placement less = plan;
  std::erase_if(less, [&](const model::JobPlacement& placed) { return placed.job == gone; });
  const std::vector<Change> changes =
      Explainer(instance, model::Objective::value, less, nullptr).explain(job).changes;
  return !changes.empty() && changes.front().kind == ChangeKind::none;
}

void expect_true(const model::Instance& instance, const model::Placement& plan, Seen& seen) {
  Explainer explainer(instance, model::Objective::value, plan, nullptr);
  for (const JobId job : model::planned_jobs(instance.workload)) {
    const Explanation explanation = explainer.explain(job);
    EXPECT_TRUE(explanation.changes.empty() || !places(plan, job));
    for (const Change& change : explanation.changes) {
      ++seen[static_cast<std::size_t>(change.kind)];
      EXPECT_EQ(faults(changed(instance, job, change), changed(plan, change)), "")
          << text(instance, job, change);
    }
  }
}

TEST(Explain, every_change_makes_a_valid_plan) {
  Seen seen{};
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    test::Dice dice(seed);
    model::Instance instance = test::random_tiny(dice);
    if (seed % 4 == 1) instance = test::with_more_limits(dice, std::move(instance));
    if (seed % 4 == 2) instance = test::with_rules(dice, std::move(instance));
    if (seed % 4 == 3) instance = test::with_power_budgets(dice, std::move(instance));
    SCOPED_TRACE(seed);
    expect_true(instance, first_fit(instance), seen);
  }
  for (const ChangeKind kind :
       {ChangeKind::eviction, ChangeKind::domain, ChangeKind::gpu_type, ChangeKind::count}) {
    EXPECT_GT(seen[static_cast<std::size_t>(kind)], 0) << static_cast<int>(kind);
  }
}

/// Jobs of several task groups: jobs to leave are named in nine of ten cases where a single one
/// that leaves would do, and what is named is valid.
TEST(Explain, jobs_of_several_groups_have_evictions_that_are_valid) {
  int found = 0, possible = 0, missed = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    test::Dice dice(seed);
    model::Instance instance = test::random_tiny(dice);
    if (seed % 2 == 1) instance = test::with_rules(dice, std::move(instance));
    const model::Placement plan = first_fit(instance);
    Explainer explainer(instance, model::Objective::value, plan, nullptr);
    for (const JobId job : model::planned_jobs(instance.workload)) {
      if (places(plan, job) || instance.workload.job(job).groups < 2) continue;
      const std::vector<Change> changes = explainer.explain(job).changes;
      if (!changes.empty() && changes.front().kind == ChangeKind::none) continue;
      const auto eviction = std::ranges::find(changes, ChangeKind::eviction, &Change::kind);
      const bool single = std::ranges::any_of(plan, [&](const model::JobPlacement& placed) {
        return !instance.workload.job(placed.job).required &&
               fits_without(instance, plan, job, placed.job);
      });
      possible += single ? 1 : 0;
      if (eviction == changes.end()) {
        missed += single ? 1 : 0;
        continue;
      }
      ++found;
      EXPECT_EQ(faults(instance, changed(plan, *eviction)), "") << text(instance, job, *eviction);
    }
  }
  EXPECT_GT(found, 20);
  EXPECT_GT(possible, 10);
  EXPECT_LE(10 * missed, possible);
}

TEST(Explain, licenses_that_suffice_make_a_valid_plan) {
  Seen seen{};
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    test::Dice dice(seed);
    const model::Instance instance = test::with_licenses(dice, test::random_tiny(dice));
    SCOPED_TRACE(seed);
    expect_true(instance, first_fit(instance), seen);
  }
  EXPECT_GT(seen[static_cast<std::size_t>(ChangeKind::license)], 50);
}

TEST(Explain, a_job_that_fits_is_a_defect_of_the_plan) {
  Seen seen{};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    test::Dice dice(seed);
    expect_true(test::random_tiny(dice), {}, seen);
  }
  EXPECT_GT(seen[static_cast<std::size_t>(ChangeKind::none)], 0);
}

/// Two racks of two machines with 4 GPUs: "a" has both of r1, "b" one of r2; "c" asks for two of a
/// rack, "d" is over its quota.
class TwoRacks : public ::testing::Test {
 protected:
  TwoRacks() {
    instance_.cluster = io::parse_cluster(R"(
schema: 1
classes: {g: {gpu_type: A, gpus: 4}}
pods: [{id: p, racks: [{id: r1, machines: [{ids: "m[1-2]", class: g}]},
                       {id: r2, machines: [{ids: "m[3-4]", class: g}]}]}]
queues: [{id: team, gpu_quota: 1}]
)",
                                          "c.yaml");
    instance_.workload = io::parse_jobs(
        R"({"id":"a","tasks":[{"count":2,"gpus":4}],"domain":"rack"}
{"id":"b","tasks":[{"count":1,"gpus":4}]}
{"id":"c","tasks":[{"count":2,"gpus":4}],"domain":"rack"}
{"id":"d","tasks":[{"count":1,"gpus":2}],"queue":"team"}
)",
        "j.jsonl", instance_.cluster);
    plan_ = first_fit(instance_);
  }

  std::vector<std::string> changes_of(int job) {
    Explainer explainer(instance_, model::Objective::value, plan_, nullptr);
    std::vector<std::string> lines;
    for (const Change& change : explainer.explain(JobId(job)).changes) {
      lines.push_back(text(instance_, JobId(job), change));
    }
    return lines;
  }

  model::Instance instance_;
  model::Placement plan_;
};

TEST_F(TwoRacks, names_who_would_have_to_stop_and_what_fits) {
  EXPECT_EQ(changes_of(2),
            (std::vector<std::string>{"stop b: pays when this job is worth more than 4",
                                      "count: 1 tasks instead of 2"}));
}

TEST_F(TwoRacks, names_the_quota_that_suffices) {
  EXPECT_EQ(changes_of(3), std::vector<std::string>{"gpu_quota: 2 instead of 1 for queue 'team'"});
}

TEST_F(TwoRacks, counts_licenses_beside_pinned_jobs_that_take_too_many) {
  instance_.cluster.licenses = {{.name = "cad", .count = 2}};
  instance_.workload = io::parse_jobs(
      R"({"id":"runs","tasks":[{"gpus":1}],"licenses":{"cad":3},"running":{"pinned":true,"tasks":[{"shape":"task","machine":"m1","gpus":[{"index":0,"milli":1000}]}]}}
{"id":"waits","tasks":[{"gpus":1}],"licenses":{"cad":1}}
)",
      "j.jsonl", instance_.cluster);
  plan_ = {};
  Seen seen{};
  expect_true(instance_, plan_, seen);
  EXPECT_EQ(changes_of(1), std::vector<std::string>{"licenses: 4 of 'cad' instead of 2"});
}

TEST_F(TwoRacks, says_what_a_job_needs_and_what_is_free) {
  Explainer explainer(instance_, model::Objective::value, plan_, nullptr);
  const std::string told = text(instance_, explainer.explain(JobId(2)));
  EXPECT_NE(told.find("needs 2 x 'task' of 4 GPUs, within one rack"), std::string::npos) << told;
  EXPECT_NE(told.find("A                                      8           0               1"),
            std::string::npos)
      << told;
}

}  // namespace
}  // namespace berth::explain
