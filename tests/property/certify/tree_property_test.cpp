// SPDX-License-Identifier: Apache-2.0
// Trees of cases against all plans: whatever the tree and its prices, no bound is below the
// optimum. Trees and prices are random first, then prices are nudged towards smaller bounds.
#include "at_work.hpp"
#include "exhaustive.hpp"
#include "random_tiny.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "berth/certify/bound.hpp"
#include "berth/certify/figures.hpp"
#include "berth/certify/gap_parts.hpp"

namespace berth {
namespace {

using model::BoundTree;
using model::Level;
using model::SpotSet;

constexpr std::int64_t kSteps = 30'000;  // of the exhaustive search
constexpr double kRounding = 1e-9;       // the search sums doubles

std::int64_t some_price(test::Dice& dice, const model::Instance& instance, JobId job,
                        model::Objective kind, std::int32_t scale_log2) {
  const std::int64_t gpu = (kind == model::Objective::allocate ? 1000 : 3) << scale_log2;
  const std::int64_t gpus = instance.workload.gpu_milli(instance.workload.job(job)) / 1000;
  return dice.chance(30) ? 0 : dice.below(gpu * gpus + 1);
}

/// Ways to share out all that a job can do. "Left out" is with the first child.
std::vector<std::vector<SpotSet>> shares(test::Dice& dice, const model::Cluster& cluster) {
  std::vector<std::vector<SpotSet>> all{{}};
  const auto pods = cluster.pods.size(), racks = cluster.racks.size();
  switch (dice.below(5)) {
    case 0:
      break;  // out, or anywhere
    case 1:
      for (std::size_t t = 0; t < cluster.gpu_types.size(); ++t) {
        all.push_back({{.gpu_type = GpuTypeId(t), .pod = {}, .rack = {}, .width = {}}});
      }
      break;
    case 2:
      for (std::size_t p = 0; p < pods; ++p) {
        all.push_back({{.gpu_type = {}, .pod = PodId(p), .rack = {}, .width = {}}});
      }
      break;
    case 3:
      for (std::size_t r = 0; r < racks; ++r) {
        if (dice.chance(60)) {
          all.push_back({{.gpu_type = {}, .pod = {}, .rack = RackId(r), .width = Level::rack}});
        }
      }
      break;
    default:
      all.push_back({{.gpu_type = {}, .pod = {}, .rack = {}, .width = Level::pod},
                     {.gpu_type = {}, .pod = {}, .rack = {}, .width = Level::cluster}});
  }
  return all;
}

class RandomTree {
 public:
  RandomTree(test::Dice& dice, const model::Instance& instance, model::Objective kind,
             const std::vector<bool>& must, model::Certificate& prices)
      : dice_(dice), instance_(instance), kind_(kind), must_(must), prices_(prices) {}

  void grow(int splits) {
    prices_.tree.nodes.push_back({});
    std::vector<std::int32_t> leaves{0};
    for (int i = 0; i < splits; ++i) {
      const auto pick = dice_.below(std::ssize(leaves));
      const std::int32_t parent = leaves[static_cast<std::size_t>(pick)];
      leaves.erase(leaves.begin() + pick);
      split(parent, leaves);
    }
  }

 private:
  void split(std::int32_t parent, std::vector<std::int32_t>& leaves) {
    auto& nodes = prices_.tree.nodes;
    const auto position = static_cast<std::uint32_t>(dice_.below(std::ssize(prices_.jobs)));
    const JobId job = prices_.jobs[position].job;
    nodes[static_cast<std::size_t>(parent)].split = job;
    std::vector<std::vector<SpotSet>> all = shares(dice_, instance_.cluster);
    const bool out_alone = all.size() == 1 || dice_.chance(70);
    if (out_alone) all.emplace_back();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool out = i == 0;
      if (out && out_alone && must_[job.index()] && dice_.chance(50)) continue;  // no plan is there
      leaves.push_back(static_cast<std::int32_t>(nodes.size()));
      BoundTree::TreeNode& node = nodes.emplace_back();
      node = {.parent = parent,
              .split = {},
              .out = out,
              .rest = i + 1 == all.size(),
              .spots = all[i],
              .changes = {}};
      change(node, position, job, out);
    }
  }

  /// The split job's price, maybe below 0 when it has to be placed, and one more.
  void change(BoundTree::TreeNode& node, std::uint32_t position, JobId job, bool out) {
    std::int64_t price = some_price(dice_, instance_, job, kind_, prices_.scale_log2);
    if (!out && dice_.chance(60)) price = -price;
    node.changes.push_back({position, price});
    const auto other = static_cast<std::uint32_t>(dice_.below(std::ssize(prices_.jobs)));
    if (other <= position) return;
    node.changes.push_back(
        {other, some_price(dice_, instance_, prices_.jobs[other].job, kind_, prices_.scale_log2)});
  }

  test::Dice& dice_;
  const model::Instance& instance_;
  model::Objective kind_;
  const std::vector<bool>& must_;
  model::Certificate& prices_;
};

model::Certificate moved(test::Dice& dice, model::Certificate prices) {
  auto& nodes = prices.tree.nodes;
  auto& node = nodes[static_cast<std::size_t>(dice.below(std::ssize(nodes)))];
  const std::int64_t step = (dice.below(1000) << prices.scale_log2) / 100;
  const auto shifted = [&](std::int64_t price) {
    return dice.chance(50) ? price * dice.one_of({0, 50, 90, 99, 101, 120}) / 100
                           : price + (dice.chance(50) ? step : -step);
  };
  if (node.changes.empty() || dice.chance(30)) {
    auto& job = prices.jobs[static_cast<std::size_t>(dice.below(std::ssize(prices.jobs)))];
    job.price = std::max<std::int64_t>(0, shifted(job.price));
    return prices;
  }
  auto& change = node.changes[static_cast<std::size_t>(dice.below(std::ssize(node.changes)))];
  change.price = shifted(change.price);
  return prices;
}

struct Totals {
  int judged = 0;
  int contended = 0;  ///< optimum below the bound at zero prices
  int tight = 0;      ///< of these: bound within 5 % of the optimum
  int exact = 0;      ///< of these: no gap at all
  int negative = 0;   ///< of the tight ones: with a price below 0
};

bool has_negative(const model::Certificate& prices) {
  return std::ranges::any_of(prices.tree.nodes, [](const BoundTree::TreeNode& node) {
    return std::ranges::any_of(node.changes, [](const auto& c) { return c.price < 0; });
  });
}

/// The amounts of the gap's parts add up to it.
void add_up(const model::Instance& instance, model::Objective kind,
            const model::Placement& placement, const model::Certificate& prices) {
  const auto figures = certify::figures(instance, kind, placement, prices);
  const auto parts = certify::gap_parts(instance, kind, placement, prices, figures);
  double sum = parts.leaves + parts.rounding;
  for (const double amount : parts.limits) sum += amount;
  sum += parts.whole_jobs;
  for (const auto& r : parts.regret) sum += r.amount;
  for (const auto& i : parts.idle) sum += i.amount;
  EXPECT_NEAR(sum, figures.upper_bound - figures.objective, 1e-6);
  EXPECT_GE(parts.leaves, 0.0);
  for (const auto& r : parts.regret) EXPECT_GT(r.amount, 0.0);
  if (parts.basis == model::BoundBasis::prices) {
    EXPECT_NEAR(parts.rounding, 0.0, 1.0);
  }
}

void judge(std::uint64_t seed, int nudges, bool busy, Totals& totals) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  test::Dice dice(seed);
  const auto kind = dice.chance(80) ? model::Objective::value : model::Objective::allocate;
  model::Instance instance = test::random_tiny(dice);
  for (model::Shape& shape : instance.workload.shapes) {
    if (dice.chance(70)) shape = {.gpus = shape.gpu_milli > 0 ? 1 : shape.gpus};
  }
  if (busy) instance = test::at_work(dice, std::move(instance));
  const auto [must, required] = test::required_of(instance.workload);
  const auto best = test::best_plan(instance, kind, must, kSteps);
  if (!best) return;
  model::Certificate prices = test::random_prices(dice, instance, kind);
  for (std::size_t j = 0; j < instance.workload.jobs.size(); ++j) {
    prices.jobs.push_back(
        {JobId(j), some_price(dice, instance, JobId(j), kind, prices.scale_log2)});
    if (!certify::unusable(instance, kind, prices).empty()) prices.jobs.pop_back();
  }
  if (prices.jobs.empty()) return;
  ++totals.judged;
  RandomTree(dice, instance, kind, must, prices).grow(static_cast<int>(1 + dice.below(6)));
  ASSERT_EQ(certify::unusable(instance, kind, prices), "");
  ASSERT_EQ(certify::uncovered(instance, prices, required), "");
  const certify::Bound first = certify::upper_bound(instance, kind, prices, required);
  double least = first.value;
  ASSERT_GE(least, best->value - kRounding) << "at random prices";
  for (int n = 0; n < nudges; ++n) {
    const model::Certificate other =
        dice.chance(20) ? test::nudged(dice, prices) : moved(dice, prices);
    if (!certify::uncovered(instance, other, required).empty()) continue;
    const double bound = certify::upper_bound(instance, kind, other, required).value;
    ASSERT_GE(bound, best->value - kRounding) << "after " << n << " nudges";
    if (bound <= least) prices = other;
    least = std::min(least, bound);
  }
  add_up(instance, kind, best->placement, prices);
  if (std::ldexp(static_cast<double>(first.zero_price), -first.scale_log2) <= best->value * 1.05) {
    return;
  }
  ++totals.contended;
  if (least > best->value * 1.05) return;
  ++totals.tight;
  if (least <= best->value + 1e-6) ++totals.exact;
  if (has_negative(prices)) ++totals.negative;
}

Totals judge_many(std::uint64_t first, int instances, int nudges, bool busy) {
  Totals totals;
  for (int i = 0; i < instances && !testing::Test::HasFatalFailure(); ++i) {
    judge(first + static_cast<std::uint64_t>(i), nudges, busy, totals);
  }
  std::printf("judged %d, contended %d, tight %d (exact %d, with a negative price %d)\n",
              totals.judged, totals.contended, totals.tight, totals.exact, totals.negative);
  return totals;
}

TEST(TreeProperty, no_bound_is_below_the_optimum) {
  const Totals totals = judge_many(1, 1200, 120, false);
  EXPECT_GT(totals.judged, 600);
  EXPECT_GT(totals.tight, 25) << "bounds too weak to find a mistake";
  EXPECT_GT(totals.negative, 20) << "too few negative prices to find a mistake";
}

TEST(TreeProperty, no_bound_is_below_the_optimum_of_a_cluster_at_work) {
  const Totals totals = judge_many(500'000, 1200, 120, true);
  EXPECT_GT(totals.judged, 600);
  EXPECT_GT(totals.tight, 25) << "bounds too weak to find a mistake";
}

TEST(TreePropertySlow, no_bound_is_below_the_optimum_on_many) {
  judge_many(1'000'000, 3'000, 600, false);
  judge_many(2'000'000, 3'000, 600, true);
}

}  // namespace
}  // namespace berth
