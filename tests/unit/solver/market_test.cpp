// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/market.hpp"

#include "instance_builder.hpp"
#include "petsc_environment.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "berth/parallel/threads.hpp"

namespace berth::solver {
namespace {

using model::Level;
using test::InstanceBuilder;

Market full_market(const InstanceBuilder& plan, const planner_model::Valuation& value,
                   const planner_model::Pools& pools) {
  return {value, pools, plan.jobs, full_supply(plan.instance.cluster, pools)};
}

std::vector<double> some_prices(const Market& market, std::uint64_t seed) {
  std::vector<double> prices;
  for (std::size_t p = 0; p < market.shape().capacity.size(); ++p) {
    prices.push_back(market.shape().upper[p] * (0.1 + 0.6 * random_unit({seed, p})));
  }
  return prices;
}

/// Of the dual in one price, by a finite difference.
void expect_slope(Market& market, std::vector<double> prices, double eps, std::size_t p,
                  double slope) {
  const double at = prices[p], step = 1e-6;
  prices[p] = at + step;
  const double above = market.dual(prices, eps, {});
  prices[p] = at - step;
  const double below = market.dual(prices, eps, {});
  EXPECT_NEAR(slope, (above - below) / (2.0 * step), 1e-5 * (1.0 + std::abs(slope))) << p;
}

TEST(Market, gradient_agrees_with_finite_differences) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const InstanceBuilder plan = test::mixed_instance(seed, 300);
    const auto value = plan.value();
    const auto pools = plan.pools();
    Market market = full_market(plan, value, pools);
    const std::vector<double> prices = some_prices(market, seed);
    std::vector<double> gradient(prices.size());
    const double eps = 0.05 * market.shape().largest_value;
    market.dual(prices, eps, gradient);
    for (std::size_t p = 0; p < prices.size(); ++p) {
      expect_slope(market, prices, eps, p, gradient[p]);
    }
  }
}

/// A tight uplink on every rack and pod of the floor; gangs are rings.
TEST(Market, gradient_counts_what_rings_send) {
  InstanceBuilder plan = test::mixed_instance(4, 300);
  for (auto& rack : plan.instance.cluster.racks) rack.uplink_gbps = 4.0;
  for (auto& pod : plan.instance.cluster.pods) pod.uplink_gbps = 6.0;
  for (auto& job : plan.instance.workload.jobs) {
    job.communication = {.pattern = model::CommunicationPattern::ring, .servers = 0, .mbps = 1500};
  }
  const planner_model::CouplingLimits limits(plan.instance, model::Objective::value);
  const planner_model::LimitGroups uplinks(plan.instance, limits);
  ASSERT_FALSE(uplinks.empty());
  const auto value = plan.value();
  const auto pools = plan.pools();
  Market market(value, pools, plan.jobs, full_supply(plan.instance.cluster, pools), &uplinks);
  const std::vector<double> prices = some_prices(market, 4);
  ASSERT_EQ(prices.size(), pools.size() + uplinks.size());
  const double eps = 0.05 * market.shape().largest_value;
  std::vector<double> gradient(prices.size());
  market.dual(prices, eps, gradient);
  int busy = 0;
  for (std::size_t p = pools.size(); p < prices.size(); ++p) {
    busy += gradient[p] != market.shape().capacity[p]
                ? 1
                : 0;  // some job loads uplinks at these prices
    expect_slope(market, prices, eps, p, gradient[p]);
  }
  EXPECT_GT(busy, 0);
}

TEST(Market, smoothing_only_raises_the_dual_and_fades_with_eps) {
  const InstanceBuilder plan = test::mixed_instance(4, 300);
  const auto value = plan.value();
  const auto pools = plan.pools();
  Market market = full_market(plan, value, pools);
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const auto prices = some_prices(market, seed);
    const double exact = market.dual(prices, 0.0, {});
    double last = exact;
    for (const double eps : {1e-6, 1e-4, 1e-2, 1e-1}) {
      const double smooth = market.dual(prices, eps * market.shape().largest_value, {});
      EXPECT_GE(smooth, last - 1e-6);
      last = smooth;
    }
    EXPECT_NEAR(market.dual(prices, 1e-7, {}), exact, 1e-2);
  }
}

// One type, one rack of 8 GPUs. Jobs worth 4, 3 and 2 per GPU take 4 GPUs each: the price at which
// two of them stay is anything in [2, 3], the dual value there 4*4 + 3*4 = 28.
TEST(Market, exact_dual_is_the_hand_made_one) {
  InstanceBuilder plan({"A"});
  plan.rack(plan.pod());
  plan.add_machines(1, 0, 8);
  for (const double weight : {4.0, 3.0, 2.0}) plan.job({.gpus = 4, .weight = weight});
  const auto value = plan.value();
  const auto pools = plan.pools();
  Market market = full_market(plan, value, pools);
  EXPECT_EQ(market.shape().largest_value, 4.0);
  EXPECT_NEAR(market.dual(std::vector{0.0}, 0.0, {}), 36.0, 1e-9);
  EXPECT_NEAR(market.dual(std::vector{2.5}, 0.0, {}), 28.0, 1e-9);
  EXPECT_NEAR(market.dual(std::vector{4.0}, 0.0, {}), 32.0, 1e-9);
  const auto dual = [&](auto p, double e, auto g) { return market.dual(p, e, g); };
  const PriceResult result = minimise_market(dual, market.shape(), {}, {});
  EXPECT_NEAR(result.bound, 28.0, 0.03);
  EXPECT_GE(result.bound, 28.0 - 1e-9);
  EXPECT_GT(result.prices[0], 1.95);
  EXPECT_LT(result.prices[0], 3.05);
}

// A gang of 4 x 4 GPUs on two racks of 8, prices 1 and 3: it fills both, 16 GPUs at 2 on average;
// 2 x 4 GPUs are in the cheap rack alone.
TEST(Market, wide_gangs_fill_the_cheapest_racks) {
  for (const int tasks : {4, 2}) {
    InstanceBuilder plan({"A"});
    const PodId pod = plan.pod();
    for (int r = 0; r < 2; ++r) plan.rack(pod), plan.add_machines(2, 0, 4);
    plan.job({.tasks = tasks, .gpus = 4, .weight = 5.0});
    const auto value = plan.value();
    const auto pools = plan.pools();
    Market market = full_market(plan, value, pools);
    std::vector<double> gradient(2);
    const std::vector<double> prices{1.0, 3.0};
    const double rent = 8.0 * 1.0 + 8.0 * 3.0;
    const double profit = tasks == 4 ? 16.0 * (5.0 - 2.0) : 8.0 * (5.0 - 1.0);
    EXPECT_NEAR(market.dual(prices, 0.0, gradient), rent + profit, 1e-9);
    EXPECT_NEAR(gradient[0], 0.0, 1e-9);
    EXPECT_NEAR(gradient[1], tasks == 4 ? 0.0 : 8.0, 1e-9);
  }
}

TEST(Market, never_offers_a_place_too_small_for_a_task_or_of_a_type_not_allowed) {
  InstanceBuilder plan({"A", "B"});
  plan.rack(plan.pod());
  plan.add_machines(2, 0, 4);  // 8 GPUs in the rack, but 4 on a machine
  plan.add_machines(1, 1, 8);
  plan.job({.gpus = 8, .weight = 9.0, .types = 1});  // type A only: fits nowhere
  plan.job({.tasks = 2, .gpus = 8, .weight = 9.0});  // 16 GPUs of type B: there are 8
  plan.job({.tasks = 2, .gpus = 4, .weight = 1.0, .domain = Level::machine, .types = 1});
  plan.job({.gpus = 8, .weight = 2.0});  // on B
  plan.job({.gpus = 1, .weight = 0.0});  // worth nothing
  const auto value = plan.value();
  const auto pools = plan.pools();
  Market market = full_market(plan, value, pools);
  EXPECT_EQ(market.blocks(), 1U);
  EXPECT_EQ(market.shape().largest_value, 2.0);
  EXPECT_NEAR(market.dual(std::vector{0.0, 0.0}, 0.0, {}), 16.0, 1e-9);
}

TEST(Market, sums_are_the_same_bits_for_any_split_and_any_threads) {
  const InstanceBuilder plan = test::mixed_instance(7, 2500);
  const auto value = plan.value();
  const auto pools = plan.pools();
  Market market = full_market(plan, value, pools);
  ASSERT_GE(market.blocks(), 5U);
  const auto prices = some_prices(market, 3);
  for (const double eps : {0.0, 0.01, 0.3}) {
    std::vector<std::int64_t> whole(market.sums_size(), 0);
    {
      const parallel::ThreadLimit one(1);
      market.evaluate(prices, eps, 0, market.blocks(), whole);
    }
    EXPECT_GT(whole[0], 0);
    for (const int threads : {1, 2, 5}) {
      const parallel::ThreadLimit limit(threads);
      for (std::size_t cut = 0; cut <= market.blocks(); ++cut) {
        std::vector<std::int64_t> sums(market.sums_size(), 0);
        market.evaluate(prices, eps, cut, market.blocks() + 3, sums);
        market.evaluate(prices, eps, 0, cut, sums);
        EXPECT_EQ(sums, whole);
      }
    }
  }
}

// Dealt by kind, as the ranks of a consensus do; three have jobs, a fourth has none.
TEST(Market, sums_of_markets_with_some_of_the_jobs_each_are_those_of_the_whole) {
  const InstanceBuilder plan = test::mixed_instance(7, 2500);
  const auto value = plan.value();
  const auto pools = plan.pools();
  Market whole = full_market(plan, value, pools);
  std::vector<std::vector<JobId>> dealt(4);
  for (const JobId job : model::planned_jobs(value.instance().workload)) {
    dealt[job_kind(value, job) % 3].push_back(job);
  }
  std::vector<Market> parts;
  MarketScale scale;
  for (const auto& jobs : dealt) {
    parts.emplace_back(value, pools, jobs, full_supply(value.instance().cluster, pools));
    EXPECT_LT(parts.back().blocks(), whole.blocks());
    scale = scale.with(parts.back().scale());
  }
  const auto prices = some_prices(whole, 3);
  for (const double eps : {0.0, 0.01, 0.3}) {
    std::vector<std::int64_t> expected(whole.sums_size(), 0), sums = expected;
    whole.evaluate(prices, eps, 0, whole.blocks(), expected);
    for (Market& part : parts) {
      part.set_scale(scale);
      EXPECT_EQ(part.shape().upper, whole.shape().upper);
      part.evaluate(prices, eps, 0, part.blocks(), sums);
    }
    EXPECT_EQ(sums, expected);
  }
}

TEST(Market, merges_equal_jobs) {
  InstanceBuilder plan({"A"});
  plan.rack(plan.pod());
  plan.add_machines(1, 0, 8);
  InstanceBuilder other = plan;
  for (int j = 0; j < 1000; ++j) plan.job({.gpus = 1, .weight = 2.0});
  const auto value = plan.value();
  const auto pools = plan.pools();
  Market market = full_market(plan, value, pools);
  EXPECT_EQ(market.blocks(), 1U);
  EXPECT_NEAR(market.dual(std::vector{0.5}, 0.0, {}), 4.0 + 1000 * 1.5, 1e-6);
}

// The required job pays whatever it costs: at price 3 it loses 3 - 1 on each of 4 GPUs.
TEST(Market, required_jobs_stay_at_a_loss) {
  InstanceBuilder plan({"A"});
  plan.rack(plan.pod());
  plan.add_machines(1, 0, 8);
  plan.job({.gpus = 4, .weight = 1.0, .required = true});
  plan.job({.gpus = 8, .weight = 2.0});
  const auto value = plan.value();
  const auto pools = plan.pools();
  Market market = full_market(plan, value, pools);
  std::vector<double> gradient(1);
  EXPECT_NEAR(market.dual(std::vector{3.0}, 0.0, gradient), 24.0 - 8.0, 1e-9);
  EXPECT_NEAR(gradient[0], 4.0, 1e-9);
  EXPECT_NEAR(market.dual(std::vector{3.0}, 1e-3, {}), 24.0 - 8.0, 1e-6);
}

TEST(Market, empty_inputs_have_empty_answers) {
  InstanceBuilder none({"A"});
  for (const bool with_machines : {false, true}) {
    if (with_machines) none.rack(none.pod()), none.add_machines(2, 0, 8);
    const auto value = none.value();
    const auto pools = none.pools();
    Market market = full_market(none, value, pools);
    const auto dual = [&](auto p, double e, auto g) { return market.dual(p, e, g); };
    const PriceResult result = minimise_market(dual, market.shape(), {}, {});
    EXPECT_EQ(result.bound, 0.0);
    EXPECT_EQ(result.prices, std::vector<double>(pools.size(), 0.0));
  }
}

TEST(Market, prices_bound_a_mixed_instance_from_above_and_beat_zero_prices) {
  const InstanceBuilder plan = test::mixed_instance(11, 400);
  const auto value = plan.value();
  const auto pools = plan.pools();
  Market market = full_market(plan, value, pools);
  const auto dual = [&](auto p, double e, auto g) { return market.dual(p, e, g); };
  const PriceResult result = minimise_market(dual, market.shape(), {}, {});
  const std::vector<double> zero(pools.size(), 0.0);
  EXPECT_LT(result.bound, 0.9 * market.dual(zero, 0.0, {}));
  EXPECT_EQ(result.bound, market.dual(result.prices, 0.0, {}));
  const PriceResult warm = minimise_market(dual, market.shape(), result.prices, {});
  EXPECT_LE(warm.bound, result.bound * 1.001);
}

TEST(ValueBands, marginal_value_is_that_of_the_first_job_without_room) {
  ValueBands demand;
  demand.add(1e6, 1000);
  demand.add(3.0, 40'000);
  demand.add(1.5, 40'000);
  demand.add(0.3, 40'000);
  EXPECT_EQ(demand.marginal_value(50'000), 2.0);
  EXPECT_EQ(demand.marginal_value(10'000), 4.0);
  EXPECT_EQ(demand.marginal_value(0), 0x1p20);
  EXPECT_EQ(demand.marginal_value(1'000'000), 0.5);  // three quarters: 90,750 of 121,000
  ValueBands twice = demand;
  twice.add(demand);
  EXPECT_EQ(twice.marginal_value(100'000), demand.marginal_value(50'000));
  demand.add(0.0, 1'000'000);
  EXPECT_EQ(demand.marginal_value(50'000), 2.0);
  EXPECT_EQ(ValueBands{}.marginal_value(1000), 0.0);
}

/// 512 GPUs for 1,100 of jobs worth 0.5 to 2 a GPU, and one GPU's worth of `outlier`.
InstanceBuilder with_outlier(double outlier) {
  InstanceBuilder plan({"A"});
  const PodId pod = plan.pod();
  for (int rack = 0; rack < 8; ++rack) plan.rack(pod), plan.add_machines(8, 0, 8);
  plan.job({.gpus = 1, .weight = outlier});
  for (std::uint64_t j = 0, gpus = 0; gpus < 1100; ++j) {
    const int size = 1 << random_below(4, {7, j});
    plan.job({.gpus = size, .weight = 0.5 + 1.5 * random_unit({8, j})});
    gpus += static_cast<std::uint64_t>(size);
  }
  return plan;
}

TEST(Market, one_job_of_any_value_leaves_the_prices_of_the_others) {
  double usual = 0.0;
  for (const double outlier : {1.0, 1e1, 1e2, 1e3, 1e4, 1e6}) {
    SCOPED_TRACE(outlier);
    const InstanceBuilder plan = with_outlier(outlier);
    const auto value = plan.value();
    const auto pools = plan.pools();
    Market market = full_market(plan, value, pools);
    const auto dual = [&](auto p, double e, auto g) { return market.dual(p, e, g); };
    const double others = minimise_market(dual, market.shape(), {}, {}).bound - outlier;
    if (usual == 0.0) usual = others;
    EXPECT_NEAR(others, usual, 0.003 * usual);
  }
}

}  // namespace
}  // namespace berth::solver
