// SPDX-License-Identifier: Apache-2.0
// What the judge says of some jobs and of the others is what it says of all: random instances,
// prices of machines, tasks, quotas and links, and random parts.
#include "at_work.hpp"
#include "random_tiny.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "berth/certify/bound.hpp"
#include "berth/certify/job_bests.hpp"

namespace berth {
namespace {

/// Some prices of hard quotas and of uplinks that have a limit.
void add_shared_prices(test::Dice& dice, const model::Cluster& cluster, model::Certificate& c) {
  for (std::size_t q = 0; q < cluster.queues.size(); ++q) {
    const bool hard = cluster.queues[q].hard() && cluster.queues[q].gpu_quota >= 0;
    if (hard && dice.chance(50)) c.queues.push_back({QueueId(q), dice.below(1 << 12)});
  }
  for (std::size_t r = 0; r < cluster.racks.size(); ++r) {
    if (std::isinf(cluster.racks[r].uplink_gbps) || dice.chance(50)) continue;
    c.links.push_back({{}, RackId(r), dice.below(1 << 12)});
  }
}

certify::JobBests put_together(test::Dice& dice, const model::Instance& instance,
                               model::Objective kind, const model::Certificate& prices,
                               const std::vector<JobId>& jobs) {
  const std::int64_t parts = 1 + dice.below(4);
  std::vector<std::vector<JobId>> part(static_cast<std::size_t>(parts));
  for (const JobId j : jobs) part[static_cast<std::size_t>(dice.below(parts))].push_back(j);
  certify::JobBests all{.best = std::vector<certify::JobBest>(jobs.size())};
  for (const std::vector<JobId>& mine : part) {
    const auto bests = certify::job_bests(instance, kind, prices, mine);
    all.integral = all.integral && bests.integral;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const auto place = std::ranges::lower_bound(jobs, mine[i]) - jobs.begin();
      all.best[static_cast<std::size_t>(place)] = bests.best[i];
    }
  }
  return all;
}

TEST(PartsProperty, side_by_side_are_the_whole) {
  int with_options = 0, integral = 0, priced = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    test::Dice dice(seed);
    const auto kind = dice.chance(70) ? model::Objective::value : model::Objective::allocate;
    model::Instance instance = test::with_more_limits(dice, test::random_tiny(dice));
    instance = test::at_work(dice, std::move(instance));
    model::Certificate prices = test::random_prices(dice, instance, kind);
    add_shared_prices(dice, instance.cluster, prices);
    if (!certify::unusable(instance, kind, prices).empty()) continue;
    const std::vector<JobId> jobs = model::planned_jobs(instance.workload);
    const certify::JobBests whole = certify::job_bests(instance, kind, prices, jobs);
    const certify::JobBests all = put_together(dice, instance, kind, prices, jobs);
    ASSERT_EQ(all.best.size(), whole.best.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      EXPECT_TRUE(all.best[i].net == whole.best[i].net) << "job " << jobs[i].value();
      EXPECT_TRUE(all.best[i].gross == whole.best[i].gross) << "job " << jobs[i].value();
      with_options += whole.best[i].net ? 1 : 0;
    }
    EXPECT_EQ(all.integral, whole.integral);
    EXPECT_TRUE(certify::upper_bound(instance, kind, prices, {}, all).exact ==
                certify::upper_bound(instance, kind, prices, {}).exact);
    integral += whole.integral ? 1 : 0;
    priced += prices.queues.empty() && prices.links.empty() ? 0 : 1;
  }
  EXPECT_GT(with_options, 2000);
  EXPECT_GT(integral, 100);
  EXPECT_LT(integral, 1900);
  EXPECT_GT(priced, 200);
}

}  // namespace
}  // namespace berth
