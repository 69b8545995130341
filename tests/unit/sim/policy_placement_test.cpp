// SPDX-License-Identifier: Apache-2.0
// What a policy does in one decision, or in a simulation, as placements of a plan.
#include "berth/sim/policy_placement.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/error.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"

namespace berth::sim {
namespace {

const std::string kCluster =
    "schema: 1\n"
    "classes: {a: {gpu_type: A, gpus: 2, cpu_milli: 8000, memory_mib: 65536}}\n"
    "pods: [{id: p, racks: [{id: r, machines: [{ids: m0, class: a}]}]}]\n";

std::string job(const std::string& id, int gpus, const std::string& more = "") {
  return R"({"id":")" + id + R"(",)" + more + R"("tasks":[{"shape":"w","gpus":)" +
         std::to_string(gpus) + "}]}\n";
}

model::Instance read(const std::string& jobs, const std::string& more_cluster = "") {
  model::Instance instance;
  instance.cluster = io::parse_cluster(kCluster + more_cluster, "c.yaml");
  instance.workload = io::parse_jobs(jobs, "j.jsonl", instance.cluster);
  return instance;
}

/// Names of the jobs that run after one decision.
std::vector<std::string> decided(const model::Instance& instance, const std::string& policy,
                                 const ReplayOptions& options = {}) {
  const model::Instance moment = at_one_moment(instance, policy::policy_row(policy).estimates);
  const auto made = policy::policy_row(policy).make({});
  std::vector<std::string> names;
  for (const auto& placed : decided_placement(moment, make_trace(moment, options), *made))
    names.emplace_back(instance.workload.job_names[placed.job.index()]);
  return names;
}

using Names = std::vector<std::string>;

TEST(DecidedPlacement, jobs_come_in_the_order_of_arrival) {
  EXPECT_EQ(decided(read(job("late", 2, R"("arrival":9,)") + job("early", 2)), "fifo"),
            Names{"early"});
}

/// What a policy is told: the jobs that arrive, in order, and those that run.
struct Told final : policy::Policy {
  void decide(policy::State& state) override {
    arrived.assign(state.arrived().begin(), state.arrived().end());
    running.assign(state.running().begin(), state.running().end());
  }
  std::vector<JobId> arrived, running;
};

Told told(const model::Instance& instance, const ReplayOptions& options = {}) {
  const model::Instance moment = at_one_moment(instance, false);
  Told policy;
  (void)decided_placement(moment, make_trace(moment, options), policy);
  return policy;
}

/// Those that arrived at once by their place in the file. Policies of published schedulers admit in
/// this order.
TEST(DecidedPlacement, policies_are_told_jobs_by_arrival) {
  const auto instance = read(job("d", 1, R"("arrival":9,)") + job("b", 1, R"("arrival":4,)") +
                             job("a", 1) + job("c", 1, R"("arrival":4,)"));
  EXPECT_EQ(told(instance).arrived, (std::vector<JobId>{JobId(2), JobId(1), JobId(3), JobId(0)}));
}

TEST(DecidedPlacement, policies_find_running_jobs_and_are_told_no_arrival_of_them) {
  const std::string there =
      R"("running":{"tasks":[{"shape":"w","machine":"m0","gpus":[{"index":0}]}]},)";
  const Told policy = told(read(job("a", 1) + job("there", 1, there) + job("b", 1)));
  EXPECT_EQ(policy.arrived, (std::vector<JobId>{JobId(0), JobId(2)}));
  EXPECT_EQ(policy.running, std::vector<JobId>{JobId(1)});
}

TEST(DecidedPlacement, keys_of_time_do_not_count) {
  EXPECT_EQ(decided(read(job("a", 1) + job("b", 1, R"("after":["a"],"not_before":5,)")), "fifo"),
            (Names{"a", "b"}));
  const auto moment = at_one_moment(
      read(
          job("a", 1, R"("arrival":3,"not_before":5,)") +
          job("b", 1, R"("arrival":10,"configurations":[{"counts":{"w":1}},{"counts":{"w":2}}],)")),
      false);
  EXPECT_EQ(moment.workload.jobs[0].arrival, -7);
  EXPECT_EQ(moment.workload.jobs[1].arrival, 0);
  for (const model::TimeRules& rules : moment.workload.time_rules) {
    EXPECT_EQ(rules.not_before, -10);
    EXPECT_EQ(rules.configurations, 0U);
  }
}

/// Nor does it keep those away that wait for its end, as a plan of one moment has no end.
TEST(DecidedPlacement, a_job_above_its_quota_holds_up_nobody) {
  const std::string quota = "queues: [{id: q, gpu_quota: 1}]\n";
  const std::string above = job("above", 2, R"("queue":"q",)");
  EXPECT_EQ(decided(read(above + job("b", 2), quota), "fifo"), Names{"b"});
  EXPECT_EQ(decided(read(above + job("b", 2, R"("after":["above"],)"), quota), "fifo"), Names{"b"});
}

/// Of a quota of one GPU nothing is left beside a pinned job, which is no part of the plan.
TEST(DecidedPlacement, pinned_jobs_count_against_quotas_and_stay_out) {
  const std::string there =
      R"("queue":"q","running":{"pinned":true,"tasks":[{"shape":"w","machine":"m0","gpus":[{"index":0}]}]},)";
  const std::string quota = "queues: [{id: q, gpu_quota: 1}]\n";
  const std::string waiting = job("b", 1, R"("queue":"q",)") + job("c", 1);
  EXPECT_EQ(decided(read(job("a", 1, there) + waiting, quota), "best-fit"), Names{"c"});
  EXPECT_EQ(decided(read(waiting, quota), "best-fit"), (Names{"b", "c"}));  // control
}

/// Whatever the trace says about preemption: a plan may stop all jobs but the pinned ones.
TEST(DecidedPlacement, a_running_job_makes_way) {
  const std::string there =
      R"("duration":100,"running":{"tasks":[{"shape":"w","machine":"m0","gpus":[{"index":0},{"index":1}]}]},)";
  EXPECT_EQ(decided(read(job("long", 2, there) + job("short", 2, R"("duration":1,)")), "srtf",
                    {.only_marked = true}),
            Names{"short"});
}

TEST(DecidedPlacement, tasks_are_in_the_order_of_their_groups) {
  const auto instance = read(
      R"({"id":"j","tasks":[{"shape":"cpu","count":2,"cpu_milli":1000},{"shape":"gpu","count":2,"gpus":1}]})"
      "\n");
  const auto made = policy::policy_row("best-fit").make({});
  const auto placed =
      decided_placement(instance, make_trace(at_one_moment(instance, false), {}), *made);
  ASSERT_EQ(placed.size(), 1U);
  EXPECT_TRUE(std::ranges::is_sorted(placed[0].tasks, {}, &model::TaskPlacement::group));
}

/// Starts and ends by job of a simulation from `now` on.
std::vector<std::pair<std::int64_t, std::int64_t>> times(const model::Instance& instance,
                                                         const std::string& policy,
                                                         std::int64_t now = 0) {
  const auto made = policy::policy_row(policy).make({});
  const TimedPlacement timed = simulated_placement(instance, make_trace(instance, {}), *made, now);
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (std::size_t i = 0; i < timed.ends.size(); ++i)
    result.emplace_back(timed.placements[i].start, timed.ends[i]);
  return result;
}

using Times = std::vector<std::pair<std::int64_t, std::int64_t>>;

TEST(SimulatedPlacement, nothing_starts_before_now) {
  const auto instance =
      read(job("a", 2, R"("duration":10,)") + job("b", 2, R"("duration":10,"arrival":70,)"));
  EXPECT_EQ(times(instance, "fifo", 50), (Times{{50, 60}, {70, 80}}));
  EXPECT_EQ(times(instance, "fifo"), (Times{{0, 10}, {70, 80}}));
}

/// The first job ends after 10/3 s; the GPUs count as held for the whole fourth second.
TEST(SimulatedPlacement, starts_and_ends_are_whole_seconds) {
  const auto instance =
      read(job("a", 2, R"("duration":10,"speed":{"A":3},)") + job("b", 2, R"("duration":10,)"));
  EXPECT_EQ(times(instance, "fifo"), (Times{{0, 4}, {4, 14}}));
}

TEST(SimulatedPlacement, windows_are_kept_and_a_job_they_stop_is_named) {
  const auto window = [](int from, int to) {
    return "windows: [{machines: [m0], from: " + std::to_string(from) +
           ", to: " + std::to_string(to) + ", kind: maintenance}]\n";
  };
  const std::string a = job("a", 2, R"("duration":10,)");
  EXPECT_EQ(times(read(a, window(0, 5)), "fifo"), (Times{{5, 15}}));
  EXPECT_EQ(times(read(a, window(0, 5)), "fifo", 20), (Times{{20, 30}}));
  try {
    (void)times(read(a, window(5, 8)), "fifo");
    FAIL() << "a job that runs twice";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("job a is stopped by a window"), std::string::npos)
        << error.what();
  }
}

TEST(UnheededKeys, are_named) {
  EXPECT_EQ(unheeded_keys(read(job("a", 1))), "");
  auto instance = read(job("a", 1, R"("communication":{"pattern":"ring","gbps":1},)") +
                       job("b", 1, R"("max_tasks_per":{"machine":1},)"));
  instance.cluster.racks[0].power_w = 1000;
  EXPECT_EQ(unheeded_keys(instance), "communication, power_w of racks and pods");
}

}  // namespace
}  // namespace berth::sim
