// SPDX-License-Identifier: Apache-2.0
// Plans of generated instances, judged at once and in parts.
#include "best_fit.hpp"
#include "in_parts.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "berth/generate/generate.hpp"
#include "berth/planner_model/pools.hpp"

namespace berth::certify {
namespace {

using generate::Preset;
using model::Objective;

/// Best fit's plan of some GPUs; every sixth job has to be placed, a soft quota is passed, and
/// gangs are rings over uplinks with a price.
struct Planned {
  explicit Planned(Preset preset, Objective objective = Objective::value)
      : instance(generate::generate(preset, {.gpus = 512, .seed = 5, .load = 1.5})),
        kind(objective) {
    instance.cluster.queues = {
        {.name = "all", .gpu_quota = 300, .over_quota_penalty = 0.25},
        {.name = "some", .gpu_quota = 100, .parent = QueueId(0), .over_quota_penalty = 0.5}};
    auto& jobs = instance.workload.jobs;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      jobs[j].required = j % 6 == 0;
      jobs[j].queue = QueueId(j % 2);
      if (j % 4 == 1) jobs[j].domain = model::Level::machine;
    }
    for (model::Job& job : jobs) {
      if (instance.workload.tasks(job) > 1)
        job.communication = {model::CommunicationPattern::ring, 0, 100};
    }
    for (model::Rack& rack : instance.cluster.racks) rack.uplink_gbps = 1000.0;
    placement = test::best_fit(instance, planner_model::Valuation(instance, kind));
    prices.scale_log2 = 30;
    const std::int64_t one = kind == Objective::value ? 1 << 20 : 1 << 30;
    for (const auto& pool : planner_model::make_pools(instance.cluster, prices.level).pools) {
      const auto more = static_cast<std::int64_t>(pool.pod.index() + pool.machine_class.index());
      prices.pools.push_back({pool.pod, {}, pool.machine_class, one + more * 1000, {more, 1}});
    }
    for (std::size_t r = 0; r < instance.cluster.racks.size(); ++r) {
      prices.limits.push_back(
          {model::LimitKind::uplink, {.rack = RackId(r)}, static_cast<std::int64_t>(40 + r)});
    }
    if (kind != Objective::value) return;
    prices.limits.push_back({model::LimitKind::gpu_quota, {.queue = QueueId(0)}, 1000});
    prices.limits.push_back({model::LimitKind::gpu_quota, {.queue = QueueId(1)}, 500});
  }

  /// Jobs dealt out by turns, some parts with none.
  [[nodiscard]] std::vector<std::vector<JobId>> dealt(std::size_t parts) const {
    std::vector<std::vector<JobId>> part(parts);
    for (const JobId j : model::planned_jobs(instance.workload)) {
      part[j.index() % 7 % parts].push_back(j);
    }
    return part;
  }
  [[nodiscard]] test::InParts judge() const { return {instance, kind, prices, placement}; }

  model::Instance instance;
  Objective kind;
  model::Placement placement;
  model::Certificate prices;
};

class PartsOf : public testing::TestWithParam<std::pair<Preset, Objective>> {};

TEST_P(PartsOf, add_up_to_the_whole) {
  const Planned plan(GetParam().first, GetParam().second);
  const test::Judgement whole = plan.judge().judge_whole();
  EXPECT_GT(whole.bound.value, whole.figures.objective);
  EXPECT_GT(whole.gap_parts.regret.size() + whole.gap_parts.idle.size(), 2U);
  EXPECT_FALSE(whole.required_missing.empty());
  for (const std::size_t parts : {1, 2, 3, 7, 9}) {
    SCOPED_TRACE(testing::Message() << parts << " parts");
    test::expect_same(plan.judge().judge(plan.dealt(parts)), whole);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, PartsOf,
                         testing::Values(std::pair(Preset::hetero, Objective::value),
                                         std::pair(Preset::openb_like, Objective::value),
                                         std::pair(Preset::philly_like, Objective::value),
                                         std::pair(Preset::hetero, Objective::allocate)));

/// What a job more or less does, so that the comparison above is worth something.
TEST(PartsOfAPlan, tell_when_a_job_counts_twice_or_not_at_all) {
  const Planned plan(Preset::hetero);
  const test::Judgement whole = plan.judge().judge_whole();
  std::vector<std::vector<JobId>> parts = plan.dealt(3);
  parts[1].push_back(parts[0].back());
  std::ranges::sort(parts[1]);
  const test::Judgement twice = plan.judge().judge(parts);
  EXPECT_TRUE(twice.bound.zero_price > whole.bound.zero_price);
  EXPECT_FALSE(twice.facts == whole.facts);
  parts = plan.dealt(3);
  parts[2].erase(parts[2].begin());
  const test::Judgement without = plan.judge().judge(parts);
  EXPECT_TRUE(without.bound.zero_price < whole.bound.zero_price);
  EXPECT_FALSE(without.facts == whole.facts);
}

/// Doubles would round 2^62 + 1 + ... differently by part: integers say the same at the limit.
TEST(JobFacts, guard_sums_alike_however_jobs_are_cut) {
  model::Instance instance = generate::generate(Preset::hetero, {.gpus = 16, .jobs = 40});
  auto& jobs = instance.workload.jobs;
  for (std::size_t j = 0; j < jobs.size(); ++j) jobs[j].value = j == 0 ? 0x1p62 : 0.25 + 0x1p8;
  jobs[1].value = std::numeric_limits<double>::infinity();
  const auto all = model::planned_jobs(instance.workload);
  const JobFacts whole = job_facts(instance, Objective::value, all);
  for (const std::size_t first : {1, 2, 17, 39}) {
    JobFacts sum = job_facts(instance, Objective::value, std::span(all).subspan(first));
    sum += job_facts(instance, Objective::value, std::span(all).first(first));
    EXPECT_TRUE(sum == whole);
  }
  EXPECT_NE(unusable(instance, Objective::value, {}, whole), "");
  jobs[1].value = 1.0, jobs[0].value = 1.0;
  EXPECT_EQ(unusable(instance, Objective::value, {}), "");
  jobs[2].value = 0x1p68;
  EXPECT_NE(unusable(instance, Objective::value, {}), "");
}

}  // namespace
}  // namespace berth::certify
