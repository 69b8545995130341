// SPDX-License-Identifier: Apache-2.0
#include "berth/policy/backfill.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"
#include "berth/certify/horizon.hpp"
#include "berth/horizon/machine_timeline.hpp"
#include "berth/horizon/pool_timeline.hpp"
#include "berth/horizon/problem_builder.hpp"

namespace berth::policy {
namespace {

using horizon::Gpus;
using horizon::Problem;
using horizon::Seconds;

struct Demand {
  std::int32_t gpus;
  Seconds duration;
  Seconds release = 0;
};

/// One pool; jobs of 1-GPU tasks with weight 1.
Problem one_pool(std::int32_t gpus, std::span<const Demand> demands) {
  horizon::ProblemBuilder builder;
  const auto pools =
      builder.add_pool_set(std::array{builder.add_pool(horizon::CurveId(0), gpus, 1)});
  for (const Demand& d : demands) {
    (void)builder.add_job(d.release);
    const auto cost = builder.add_cost(std::array{horizon::flow_cost(d.release, 1.0)});
    builder.add_option(pools, d.duration, std::array{horizon::TaskGroup{d.gpus, 1}}, cost);
  }
  return builder.build();
}

using Policy = horizon::Plan (*)(const Problem&, horizon::Timeline&, std::span<const JobId>);

template <class Timeline>
std::vector<Seconds> starts(Policy policy, const Problem& problem,
                            const std::vector<JobId>& order) {
  Timeline timeline(problem);
  std::vector<Seconds> result;
  for (const auto& start : policy(problem, timeline, order).starts) result.push_back(start.start);
  return result;
}

/// Ten jobs on 4 GPUs, solved by hand.
class TenJobs : public testing::Test {
 protected:
  static constexpr std::array<Demand, 10> kDemands{
      {{2, 10}, {4, 5}, {1, 10}, {1, 20}, {2, 4}, {2, 3}, {1, 2}, {4, 1}, {1, 6}, {1, 25}}};
  void expect(Policy policy, const std::vector<JobId>& order, std::vector<Seconds> expected) {
    EXPECT_EQ(starts<horizon::PoolTimeline>(policy, problem_, order), expected);
    EXPECT_EQ(starts<horizon::MachineTimeline>(policy, problem_, order), expected);
  }
  Problem problem_ = one_pool(4, kDemands);
  std::vector<JobId> arrival_ = arrival_order(problem_);
  std::vector<JobId> wspt_ = weighted_shortest_first(problem_, 1000);
};

TEST_F(TenJobs, fifo_starts_no_job_before_one_ahead) {
  expect(fifo, arrival_, {0, 10, 15, 15, 15, 19, 22, 35, 36, 36});
}

TEST_F(TenJobs, conservative_backfill_delays_no_job_ahead) {
  expect(conservative_backfill, arrival_, {0, 10, 0, 15, 15, 19, 0, 35, 2, 36});
}

TEST_F(TenJobs, easy_backfill_protects_only_the_head) {
  // the last job passes the eighth, which then waits for it
  expect(easy_backfill, arrival_, {0, 10, 0, 15, 15, 19, 0, 40, 2, 15});
}

TEST_F(TenJobs, first_fit_starves_the_large) {
  expect(first_fit, wspt_, {7, 38, 2, 6, 3, 0, 0, 37, 0, 12});
}

TEST_F(TenJobs, the_list_in_wspt_order_reserves) {
  expect(cheapest_list, wspt_, {10, 20, 3, 25, 6, 3, 0, 2, 3, 25});
}

/// EASY as its authors state it, second by second: the head's shadow time and the GPUs that are
/// extra then; a later job starts if it ends by the shadow time or takes extra GPUs only.
std::vector<Seconds> slow_easy(std::int32_t gpus, std::span<const Demand> demands) {
  std::vector<Seconds> starts(demands.size(), horizon::kNever);
  std::size_t started = 0;
  for (Seconds now = 0; started < demands.size(); ++now) {
    const auto free_at = [&](Seconds t) {
      Gpus free = gpus;
      for (std::size_t j = 0; j < demands.size(); ++j) {
        if (starts[j] <= now && t < starts[j] + demands[j].duration) free -= demands[j].gpus;
      }
      return free;
    };
    bool blocked = false;
    Seconds shadow = 0;
    Gpus extra = 0;
    for (std::size_t j = 0; j < demands.size(); ++j) {
      if (starts[j] < horizon::kNever || demands[j].release > now) continue;
      const bool fits = demands[j].gpus <= free_at(now);
      const bool in_time = now + demands[j].duration <= shadow;
      if (fits && (!blocked || in_time || demands[j].gpus <= extra)) {
        if (blocked && !in_time) extra -= demands[j].gpus;
        starts[j] = now;
        ++started;
      } else if (!blocked) {
        blocked = true;
        for (shadow = now; free_at(shadow) < demands[j].gpus;) ++shadow;
        extra = free_at(shadow) - demands[j].gpus;
      }
    }
  }
  return starts;
}

TEST(EasyBackfill, agrees_with_shadow_times_second_by_second) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::vector<Demand> demands;
    Seconds release = 0;
    for (std::uint64_t j = 0; j < 40; ++j) {
      release += static_cast<Seconds>(random_below(6, {seed, j, 0}));
      demands.push_back({static_cast<std::int32_t>(1 + random_below(8, {seed, j, 1})),
                         static_cast<Seconds>(1 + random_below(30, {seed, j, 2})), release});
    }
    const Problem problem = one_pool(8, demands);
    EXPECT_EQ(starts<horizon::PoolTimeline>(easy_backfill, problem, arrival_order(problem)),
              slow_easy(8, demands));
  }
}

TEST(Policies, respect_outages_and_releases) {
  horizon::ProblemBuilder builder;
  const auto pools = builder.add_pool_set(std::array{builder.add_pool(horizon::CurveId(0), 2, 4)});
  builder.add_outage(MachineId(0), 5, 15);
  builder.add_outage(MachineId(1), 0, 8, 0b0011);
  for (int j = 0; j < 12; ++j) {
    (void)builder.add_job(j);
    const auto cost = builder.add_cost(std::array{horizon::flow_cost(j, 1.0)});
    builder.add_option(pools, 3 + j % 4, std::array{horizon::TaskGroup{1, 1 + j % 4}}, cost);
  }
  const Problem problem = builder.build();
  for (const Policy policy :
       {fifo, conservative_backfill, cheapest_list, easy_backfill, first_fit}) {
    horizon::MachineTimeline timeline(problem);
    horizon::Plan plan = policy(problem, timeline, arrival_order(problem));
    horizon::assign_devices(problem, plan);
    EXPECT_TRUE(certify::check_on_machines(problem, plan).empty());
    EXPECT_TRUE(std::ranges::all_of(plan.starts, &horizon::JobStart::placed));
  }
}

}  // namespace
}  // namespace berth::policy
