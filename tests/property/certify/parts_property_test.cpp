// SPDX-License-Identifier: Apache-2.0
// What the judge says of some jobs and of the others is what it says of all: random instances,
// prices of machines, tasks, quotas and links, and random parts.
#include "at_work.hpp"
#include "exhaustive.hpp"
#include "in_parts.hpp"
#include "random_tiny.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace berth {
namespace {

using model::LimitKind;

/// Some prices of hard quotas and of uplinks that have a limit.
void add_shared_prices(test::Dice& dice, const model::Cluster& cluster, model::Certificate& c) {
  for (std::size_t q = 0; q < cluster.queues.size(); ++q) {
    const bool hard = cluster.queues[q].hard() && cluster.queues[q].gpu_quota >= 0;
    if (hard && dice.chance(50)) {
      c.limits.push_back({LimitKind::gpu_quota, {.queue = QueueId(q)}, dice.below(1 << 12)});
    }
  }
  for (std::size_t r = 0; r < cluster.racks.size(); ++r) {
    if (std::isinf(cluster.racks[r].uplink_gbps) || dice.chance(50)) continue;
    c.limits.push_back({LimitKind::uplink, {.rack = RackId(r)}, dice.below(1 << 12)});
  }
}

std::vector<std::vector<JobId>> cut(test::Dice& dice, const std::vector<JobId>& jobs) {
  const std::int64_t parts = dice.one_of({1, 2, 3, 7});
  std::vector<std::vector<JobId>> part(static_cast<std::size_t>(parts));
  for (const JobId j : jobs) part[static_cast<std::size_t>(dice.below(parts))].push_back(j);
  return part;
}

struct Seen {
  int required = 0, over_quota = 0, priced = 0, running = 0, integral = 0, together = 0;
  int by_basis[3] = {};
};

void count(const model::Instance& instance, const model::Certificate& prices,
           const test::Judgement& judged, Seen& seen) {
  ++seen.by_basis[static_cast<std::size_t>(judged.gap_parts.basis)];
  seen.required += judged.required_missing.empty() ? 0 : 1;
  const auto of_quota = [](const auto& l) { return l.kind == LimitKind::gpu_quota; };
  const bool quotas_cost = std::ranges::any_of(prices.limits, of_quota);
  seen.over_quota +=
      judged.gap_parts.limits[index_of(LimitKind::gpu_quota)] > 0.0 && !quotas_cost ? 1 : 0;
  seen.priced += prices.limits.empty() ? 0 : 1;
  seen.running += instance.workload.running.empty() ? 0 : 1;
  seen.integral += judged.bound.value == std::floor(judged.bound.value) ? 1 : 0;
  seen.together += judged.facts.tasks.empty() || judged.facts.tasks.back().count == 1 ? 0 : 1;
}

TEST(PartsProperty, add_up_to_the_whole) {
  constexpr std::int64_t kSteps = 20'000;
  Seen seen;
  int judged = 0;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    test::Dice dice(seed);
    const auto kind = dice.chance(70) ? model::Objective::value : model::Objective::allocate;
    model::Instance instance = test::with_more_limits(dice, test::random_tiny(dice));
    instance = test::at_work(dice, std::move(instance));
    model::Certificate prices = test::random_prices(dice, instance, kind);
    add_shared_prices(dice, instance.cluster, prices);
    if (!certify::unusable(instance, kind, prices).empty()) continue;
    const std::vector<bool> none_required(instance.workload.size(), false);
    const auto best = test::best_plan(instance, kind, none_required, kSteps);
    const model::Placement placement = best ? best->placement : model::Placement{};
    const test::InParts plan(instance, kind, prices, placement);
    const test::Judgement whole = plan.judge_whole();
    test::expect_same(plan.judge(cut(dice, model::planned_jobs(instance.workload))), whole);
    count(instance, prices, whole, seen);
    ++judged;
  }
  EXPECT_GT(judged, 2000);
  EXPECT_GT(seen.required, 30);
  EXPECT_GT(seen.over_quota, 30);
  EXPECT_GT(seen.priced, 30);
  EXPECT_GT(seen.running, 30);
  EXPECT_GT(seen.integral, 30);
  EXPECT_GT(seen.together, 30);
  for (const int basis : seen.by_basis) EXPECT_GT(basis, 30);
}

}  // namespace
}  // namespace berth
