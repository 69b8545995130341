// SPDX-License-Identifier: Apache-2.0
#include "berth/pipeline/horizon_changes.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "berth/base/random.hpp"
#include "berth/certify/horizon_plan.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/horizon_plan_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/model/digest.hpp"

namespace berth::pipeline {
namespace {

using Kind = TimedChangeKind;

model::Instance instance_of(const std::string& cluster, const std::string& jobs) {
  model::Instance instance;
  instance.cluster = io::parse_cluster(cluster, "cluster.yaml");
  instance.workload = io::parse_jobs(jobs, "jobs.jsonl", instance.cluster);
  return instance;
}

/// Draws of one seed.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t below(std::uint64_t bound) { return random_below(bound, {seed_, draws_++}); }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::uint64_t seed_, draws_ = 0;
};

std::string random_cluster(Dice& dice) {
  const std::uint64_t from = dice.below(60);
  return fmt::format(
      "schema: 1\nclasses: {{g: {{gpu_type: A, gpus: 4}}, h: {{gpu_type: B, gpus: 4}}}}\n"
      "pods:\n  - id: p\n    racks:\n"
      "      - {{id: r0, machines: [{{ids: \"m[0-1]\", class: g}}]}}\n"
      "      - {{id: r1, machines: [{{ids: \"m[2-3]\", class: g}}]}}\n"
      "      - {{id: r2, machines: [{{ids: \"n[0-1]\", class: h}}]}}\n"
      "queues: [{{id: org, gpu_quota: 9}}, {{id: team, parent: org, gpu_quota: 4}}]\n"
      "licenses: {{cad: 2}}\n"
      "windows:\n"
      "  - {{machines: m{}, from: {}, to: {}, kind: maintenance}}\n"
      "  - {{machines: n1, from: 20, to: 50, kind: reservation, for: {{jobs: [j3], queues: "
      "[team]}}}}\n",
      dice.below(4), from, from + 10 + dice.below(30));
}

std::string random_tasks(Dice& dice) {
  if (dice.one_in(4)) return R"({"gpu_milli":600})";
  if (dice.one_in(4)) {
    return fmt::format(R"({{"shape":"w","count":{},"gpus":{}}},{{"shape":"s","gpus":1}})",
                       1 + dice.below(2), 1 + dice.below(3));
  }
  return fmt::format(R"({{"count":{},"gpus":{}}})", 1 + dice.below(5), 1 + dice.below(4));
}

std::string random_jobs(Dice& dice) {
  std::string jobs =
      R"({"id":"here","weight":2,"running":{"pinned":true,"remaining":30,"tasks":[{"shape":"task","machine":"m0","gpus":[{"index":1}]}]},"duration":60,"tasks":[{"gpus":1}]}
{"id":"shares","running":{"remaining":25,"tasks":[{"shape":"task","machine":"m2","gpus":[{"index":2,"milli":500}]}]},"duration":60,"tasks":[{"gpu_milli":500}]}
)";
  for (std::uint64_t j = 0; j < 14; ++j) {
    std::string more;
    const std::uint64_t duration = 10 + dice.below(40);
    if (dice.one_in(3)) {
      more += fmt::format(R"(,"deadline":{})", duration + dice.below(30));
    } else if (dice.one_in(4)) {
      more += fmt::format(R"(,"not_before":{})", 5 + dice.below(40));
    } else if (j > 0 && dice.one_in(5)) {
      more += fmt::format(R"(,"after":["j{}"])", dice.below(j));
    }
    if (dice.one_in(2)) more += R"(,"gpu_types":["A"])";
    if (dice.one_in(3)) more += R"(,"domain":"rack")";
    if (dice.one_in(3)) more += dice.one_in(2) ? R"(,"queue":"team")" : R"(,"queue":"org")";
    if (dice.one_in(4)) more += fmt::format(R"(,"licenses":{{"cad":{}}})", 1 + dice.below(2));
    if (dice.one_in(6)) more += R"(,"exclusive":"machine")";
    jobs += fmt::format(R"({{"id":"j{}","weight":{},"duration":{},"tasks":[{}]{}}})", j,
                        1 + dice.below(5), duration, random_tasks(dice), more) +
            "\n";
  }
  return jobs;
}

model::RawHorizonPlan raw(const model::Instance& instance, const model::HorizonPlan& plan) {
  return io::parse_horizon_plan(io::horizon_plan_text(instance, plan), "plan");
}

/// The instance with the change made in its files.
model::Instance changed(model::Instance instance, JobId job, const TimedChange& change) {
  model::Workload& workload = instance.workload;
  model::Job& record = workload.jobs[job.index()];
  if (change.kind == Kind::domain) record.domain = change.domain;
  if (change.kind == Kind::gpu_type) {
    record.gpu_types |= std::uint64_t{1} << change.gpu_type.index();
  }
  if (change.kind == Kind::count) workload.groups[record.first_group].count = change.count;
  if (change.kind == Kind::quota) {
    instance.cluster.queues[change.queue.index()].gpu_quota = change.quota;
  }
  if (change.kind == Kind::license) {
    instance.cluster.licenses[change.license].count = change.licenses;
  }
  if (change.kind == Kind::deadline) {
    workload.time_rules.push_back(model::TimeRules(workload.time_rules[record.time]));
    workload.time_rules.back().deadline = change.deadline;
    record.time = static_cast<std::uint32_t>(workload.time_rules.size() - 1);
  }
  return instance;
}

class HorizonChangesTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t kLength = 60;

  /// Running jobs, then every job that fits beside those before it, but for one in five.
  static model::HorizonPlan filled(const model::Instance& instance, Dice& dice) {
    model::HorizonPlan plan;
    plan.horizon = {.now = 0, .length = kLength};
    for (const model::Running& running : instance.workload.running) {
      if (running.pinned) continue;
      const auto tasks = instance.workload.tasks_of(running);
      plan.placements.push_back({.job = running.job, .tasks = {tasks.begin(), tasks.end()}});
      plan.ends.push_back(running.remaining);
    }
    for (const JobId job : model::planned_jobs(instance.workload)) {
      if (instance.workload.job(job).running >= 0) continue;
      HorizonChanges changes(instance, raw(instance, plan));
      const std::vector<TimedChange> found = changes.of(job);
      if (!found.empty() && found.front().kind == Kind::none && !dice.one_in(5)) {
        std::tie(plan.placements, plan.ends) = changes.plan_with(found.front());
      } else {
        plan.waiting.push_back({.job = job, .reason = "waits", .earliest_start = {}});
      }
    }
    return plan;
  }

  /// Faults of the plan once the change is made, figures aside.
  static std::string faults(const model::Instance& instance, JobId job, const TimedChange& change,
                            const HorizonChanges& changes) {
    const model::Instance other = changed(instance, job, change);
    model::HorizonPlan after;
    after.horizon = {.now = 0, .length = change.kind == Kind::length ? change.length : kLength};
    std::tie(after.placements, after.ends) = changes.plan_with(change);
    after.instance_digest = model::instance_digest(other);
    after.plan_digest = model::plan_digest(other, after.placements);
    bool there = false;
    for (const JobId one : model::planned_jobs(other.workload)) {
      const bool placed =
          std::ranges::binary_search(after.placements, one, {}, &model::JobPlacement::job);
      there |= placed && one == job;
      if (!placed) after.waiting.push_back({.job = one, .reason = "waits", .earliest_start = {}});
    }
    std::string text = there ? "" : "; the job is not in the plan";
    for (const certify::Fault& fault :
         certify::check_horizon(other, raw(other, after)).checked.faults) {
      if (fault.kind == certify::FaultKind::missing_entry ||
          fault.kind >= certify::FaultKind::wrong_required_missing) {
        continue;
      }
      text += "; " + std::string(certify::name(fault.kind)) + ": " + fault.text;
    }
    return text;
  }
};

TEST_F(HorizonChangesTest, every_change_makes_a_valid_plan) {
  std::array<int, 9> seen{};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const std::string cluster = random_cluster(dice);
    const model::Instance instance = instance_of(cluster, random_jobs(dice));
    const model::HorizonPlan before = filled(instance, dice);
    HorizonChanges changes(instance, raw(instance, before));
    for (const model::WaitingJob& waiting : before.waiting) {
      for (const TimedChange& change : changes.of(waiting.job)) {
        ++seen[static_cast<std::size_t>(change.kind)];
        EXPECT_EQ(faults(instance, waiting.job, change, changes), "")
            << instance.workload.job_names[waiting.job.index()] << ": "
            << text(instance, before.horizon, waiting.job, change);
      }
    }
  }
  for (const Kind kind : {Kind::none, Kind::eviction, Kind::domain, Kind::gpu_type, Kind::count,
                          Kind::quota, Kind::license, Kind::deadline, Kind::length}) {
    EXPECT_GT(seen[static_cast<std::size_t>(kind)], 0) << static_cast<int>(kind);
  }
}

TEST_F(HorizonChangesTest, no_victim_is_needless) {
  int several = 0;
  for (std::uint64_t seed = 100; seed < 120; ++seed) {
    Dice dice(seed);
    const std::string cluster = random_cluster(dice);
    const model::Instance instance = instance_of(cluster, random_jobs(dice));
    const model::HorizonPlan before = filled(instance, dice);
    for (const model::WaitingJob& waiting : before.waiting) {
      HorizonChanges changes(instance, raw(instance, before));
      for (const TimedChange& change : changes.of(waiting.job)) {
        if (change.kind != Kind::eviction || change.stopped.size() < 2) continue;
        ++several;
        for (const JobId spared : change.stopped) {
          // once the others are gone for good, this one alone still has to leave
          model::HorizonPlan less = before;
          for (std::size_t p = less.placements.size(); p-- > 0;) {
            const JobId job = less.placements[p].job;
            if (job == spared || std::ranges::find(change.stopped, job) == change.stopped.end()) {
              continue;
            }
            less.placements.erase(less.placements.begin() + static_cast<std::ptrdiff_t>(p));
            less.ends.erase(less.ends.begin() + static_cast<std::ptrdiff_t>(p));
            less.waiting.push_back({.job = job, .reason = "left out", .earliest_start = {}});
          }
          std::ranges::sort(less.waiting, {}, &model::WaitingJob::job);
          HorizonChanges again(instance, raw(instance, less));
          const auto found = again.of(waiting.job);
          EXPECT_TRUE(found.empty() || found.front().kind != Kind::none) << seed;
        }
      }
    }
  }
  EXPECT_GT(several, 5);
}

/// A job on all GPUs of the machine from second 0 on.
model::RawPlacement on_all_of(const std::string& job, const std::string& machine) {
  return {.job = job,
          .start = 0,
          .tasks = {{.shape = "task",
                     .machine = machine,
                     .gpus = {{0, 1000}, {1, 1000}, {2, 1000}, {3, 1000}}}}};
}

TEST_F(HorizonChangesTest, says_what_would_let_a_job_start) {
  const model::Instance instance = instance_of(
      "schema: 1\nclasses: {g: {gpu_type: A, gpus: 4}}\n"
      "pods: [{id: p, racks: [{id: r, machines: [{ids: \"m[0-1]\", class: g}]}]}]\n",
      R"({"id":"long","duration":55,"weight":3,"tasks":[{"gpus":4}]}
{"id":"other","duration":30,"weight":3,"tasks":[{"gpus":4}]}
{"id":"late","duration":20,"deadline":58,"tasks":[{"count":2,"gpus":3}]}
{"id":"again","duration":20,"tasks":[{"count":2,"gpus":4}]}
{"id":"due","duration":20,"deadline":45,"tasks":[{"gpus":4}]}
)");
  model::RawHorizonPlan before;
  before.length = kLength;
  before.objective = "value";
  before.plan.placements = {on_all_of("long", "m0"), on_all_of("other", "m1")};
  before.ends = {55, 30};
  HorizonChanges changes(instance, before);
  const auto told = [&](int job) {
    std::vector<std::string> lines;
    for (const TimedChange& change : changes.of(JobId(job))) {
      lines.push_back(text(instance, {.now = 0, .length = kLength}, JobId(job), change));
    }
    return lines;
  };
  const std::string at_30 = "; starts at 30, 30 s from now";
  EXPECT_EQ(told(2), (std::vector<std::string>{
                         "leave out long: pays when this job is worth more than 12" + at_30,
                         "count: 1 tasks instead of 2" + at_30}));
  EXPECT_EQ(told(3).back(), "--horizon 75 instead of 60; starts at 55, 55 s from now");
  EXPECT_EQ(told(4), (std::vector<std::string>{
                         "leave out long: pays when this job is worth more than 12; starts at 0, 0 "
                         "s from now",
                         "deadline: 50 instead of 45" + at_30}));
}

}  // namespace
}  // namespace berth::pipeline
