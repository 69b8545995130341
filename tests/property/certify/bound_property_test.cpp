// SPDX-License-Identifier: Apache-2.0
// Weak duality against all plans: whatever the prices, the bound is never below the optimum.
// Prices are random first, then nudged towards smaller bounds, which looks for the weakest spot.
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
#include "berth/parallel/threads.hpp"

namespace berth {
namespace {

constexpr std::int64_t kSteps = 30'000;  // of the exhaustive search
constexpr double kRounding = 1e-9;       // the search sums doubles

bool of_whole_gpus(const model::Workload& workload, const model::Job& job) {
  bool whole = true, takes = false;
  for (const model::TaskGroup& g : workload.groups_of(job)) {
    whole = whole && workload.shape(g.shape).gpu_milli == 0;
    takes = takes || workload.shape(g.shape).gpus > 0;
  }
  return whole && takes;
}

/// The same jobs, without shares and without limits but GPUs: where prices of jobs are at home.
void count_gpus_only(model::Workload& workload) {
  for (model::Shape& shape : workload.shapes) {
    shape = {.needs = {0, 0, shape.needs[model::kNic], shape.needs[model::kPower]},
             .gpus = shape.gpu_milli > 0 ? 1 : shape.gpus};
  }
}

/// Prices for some of the jobs that can have one.
void add_job_prices(test::Dice& dice, const model::Instance& instance, model::Objective kind,
                    model::Certificate& prices) {
  const std::int64_t percent = dice.one_of({0, 40, 100});
  const std::int64_t gpu = (kind == model::Objective::allocate ? 1000 : 3) << prices.scale_log2;
  for (std::size_t j = 0; j < instance.workload.jobs.size(); ++j) {
    const model::Job& job = instance.workload.jobs[j];
    if (!of_whole_gpus(instance.workload, job) || instance.workload.pinned(job)) continue;
    if (!dice.chance(percent)) continue;
    const std::int64_t most = gpu * (instance.workload.gpu_milli(job) / 1000);
    prices.jobs.push_back({JobId(j), dice.chance(30) ? 0 : dice.below(most + 1)});
  }
}

/// The most that the price of a queue can be; 0 when it has no quota.
std::int64_t most_for(const model::Queue& queue, model::Objective kind, std::int32_t scale_log2) {
  if (queue.hard()) return 4LL << scale_log2;
  if (queue.gpu_quota < 0 || kind == model::Objective::allocate) return 0;
  return static_cast<std::int64_t>(std::floor(std::ldexp(queue.over_quota_penalty, scale_log2))) /
         1000;
}

std::int64_t most_for(const model::Spare& spare, model::Objective kind, std::int32_t scale_log2) {
  if (kind == model::Objective::allocate) return 0;
  return static_cast<std::int64_t>(std::floor(std::ldexp(spare.penalty, scale_log2))) / 1000;
}

std::int64_t drawn(test::Dice& dice, std::int64_t most) {
  return dice.chance(40) ? 0 : dice.chance(20) ? most : dice.below(most + 1);
}

/// Prices of quotas and links.
void add_shared_prices(test::Dice& dice, const model::Instance& instance, model::Objective kind,
                       model::Certificate& prices) {
  const model::Cluster& cluster = instance.cluster;
  const std::int64_t unit = (kind == model::Objective::allocate ? 1000 : 3) << prices.scale_log2;
  for (std::size_t q = 0; q < cluster.queues.size(); ++q) {
    const std::int64_t most = most_for(cluster.queues[q], kind, prices.scale_log2);
    const std::int64_t usual = std::min(most, unit / 500);
    if (most > 0) {
      prices.limits.push_back(
          {model::LimitKind::gpu_quota, {.queue = QueueId(q)}, drawn(dice, usual)});
    }
  }
  const auto add = [&](const model::LimitScope& scope) {
    return [&, scope](const model::LimitRow& row, double limit) {
      if (std::isinf(limit)) return;
      const auto limited = static_cast<model::LimitKind>(&row - model::kLimitRows.data());
      prices.limits.push_back({limited, scope, drawn(dice, unit / 500)});
    };
  };
  for (std::size_t r = 0; r < cluster.racks.size(); ++r) {
    for_each_limit(cluster.racks[r], add({.rack = RackId(r)}));
  }
  for (std::size_t p = 0; p < cluster.pods.size(); ++p) {
    for_each_limit(cluster.pods[p], add({.pod = PodId(p)}));
  }
}

/// Prices of spare GPUs.
void add_spare_prices(test::Dice& dice, const model::Instance& instance, model::Objective kind,
                      model::Certificate& prices) {
  for (const model::Spare& spare : instance.cluster.spare) {
    const std::int64_t most = most_for(spare, kind, prices.scale_log2);
    prices.limits.push_back({model::LimitKind::spare,
                             {.pod = spare.pod, .gpu_type = spare.gpu_type},
                             drawn(dice, most)});
  }
}

/// Without prices of jobs, whole jobs are chosen in half of the certificates.
void choose_whole_jobs(test::Dice& dice, model::Objective kind, model::Certificate& prices) {
  if (!prices.jobs.empty() || dice.chance(50)) return;
  const std::int64_t unit = (kind == model::Objective::allocate ? 1000 : 3) << prices.scale_log2;
  using WholeJobs = model::Certificate::WholeJobs;
  if (dice.chance(60)) {
    prices.whole_jobs = {WholeJobs::Within::cluster, drawn(dice, unit / 500)};
  } else {
    prices.whole_jobs = {WholeJobs::Within::home_racks, 0};
  }
}

/// In half of the certificates of a cluster where jobs stay, sets of whole jobs are chosen.
void choose_sets(test::Dice& dice, model::Objective kind, model::Certificate& prices) {
  if (dice.chance(50)) return;
  const std::int64_t unit = (kind == model::Objective::allocate ? 1000 : 3) << prices.scale_log2;
  prices.whole_jobs = {model::Certificate::WholeJobs::Within::cluster, drawn(dice, unit / 500)};
}

/// One of them more, less, or gone.
model::Certificate shared_moved(test::Dice& dice, const model::Instance& instance,
                                model::Objective kind, model::Certificate prices) {
  const std::int64_t pick = dice.below(std::ssize(prices.limits));
  const auto scaled = [&](std::int64_t price) {
    const std::int64_t percent = dice.one_of({0, 50, 90, 99, 101, 120, 200});
    return price * percent / 100 + dice.one_of({0, 0, 1, 100});
  };
  auto& l = prices.limits[static_cast<std::size_t>(pick)];
  l.price = scaled(l.price);
  if (l.kind == model::LimitKind::gpu_quota) {
    const model::Queue& queue = instance.cluster.queues[l.scope.queue.index()];
    l.price = std::min(l.price, most_for(queue, kind, prices.scale_log2));
  }
  if (l.kind == model::LimitKind::spare) {
    const model::Spare& spare = *instance.cluster.spare_of(l.scope.pod, l.scope.gpu_type);
    l.price = std::min(l.price, most_for(spare, kind, prices.scale_log2));
  }
  return prices;
}

model::Certificate moved(test::Dice& dice, const model::Certificate& prices) {
  model::Certificate other = prices;
  if (prices.whole_jobs.in_cluster() && dice.chance(30)) {
    other.whole_jobs.gpu_milli = other.whole_jobs.gpu_milli * dice.one_of({0, 50, 90, 120}) / 100;
    return other;
  }
  if (prices.jobs.empty() || dice.chance(30)) return test::nudged(dice, prices);
  auto& job = other.jobs[static_cast<std::size_t>(dice.below(std::ssize(other.jobs)))];
  const std::int64_t step = (dice.below(1000) << prices.scale_log2) / 100;
  job.price = dice.chance(50)
                  ? job.price * dice.one_of({0, 50, 90, 99, 101, 120}) / 100
                  : std::max<std::int64_t>(0, job.price + (dice.chance(50) ? step : -step));
  return other;
}

/// True when jobs that stay are items of their machines' contents.
bool some_stay(const model::Instance& instance, model::Objective kind,
               const model::Certificate& prices, const std::vector<JobId>& required) {
  const auto jobs = model::planned_jobs(instance.workload);
  const certify::JobFacts facts = certify::job_facts(instance, kind, jobs);
  const auto bests = certify::job_bests(instance, kind, prices, facts, jobs);
  return !certify::job_terms(instance, prices, jobs, bests, required).stays.empty();
}

/// True when prices of gangs make the bound lower.
bool gangs_matter(const model::Instance& instance, model::Objective kind,
                  const model::Certificate& prices, const std::vector<JobId>& required) {
  if (prices.gangs.empty()) return false;
  model::Certificate without = prices;
  without.gangs.clear();
  return certify::upper_bound(instance, kind, prices, required).exact <
         certify::upper_bound(instance, kind, without, required).exact;
}

struct Totals {
  int judged = 0, given_up = 0;
  int contended = 0;                       ///< optimum below the bound at zero prices
  int tight = 0;                           ///< of these: bound within 5 % of the optimum
  int by_jobs = 0;                         ///< of the tight ones: with prices of jobs
  int whole = 0;                           ///< of the tight ones: with whole jobs
  int at_home = 0;                         ///< of the tight ones: whole jobs in home racks
  int stays = 0;                           ///< of the tight ones: with jobs that stay on machines
  int gangs = 0;                           ///< of the tight ones: gangs gain in racks
  int stays_of_sets = 0;                   ///< of the tight ones: these among sets of whole jobs
  int by_limits[model::kLimitKinds] = {};  ///< with a price of such a limit
};

enum class Cluster { empty, at_work, stays, limited, power, ruled, spare, gangs };

void judge(std::uint64_t seed, int nudges, Cluster cluster, Totals& totals) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  test::Dice dice(seed);
  const auto kind = dice.chance(70) ? model::Objective::value : model::Objective::allocate;
  model::Instance instance =
      cluster == Cluster::gangs ? test::random_gangs(dice) : test::random_tiny(dice);
  if (cluster == Cluster::stays || dice.chance(40)) count_gpus_only(instance.workload);
  if (cluster == Cluster::limited) instance = test::with_more_limits(dice, std::move(instance));
  if (cluster == Cluster::power) instance = test::with_power_budgets(dice, std::move(instance));
  if (cluster == Cluster::ruled) instance = test::with_rules(dice, std::move(instance));
  if (cluster == Cluster::spare && dice.chance(50)) {
    instance = test::with_more_limits(dice, std::move(instance));
  }
  if (cluster == Cluster::spare) instance = test::with_spare(dice, std::move(instance));
  const bool at_work = cluster == Cluster::gangs ? dice.chance(60) : cluster != Cluster::empty;
  if (at_work) instance = test::at_work(dice, std::move(instance));
  const auto [must, required] = test::required_of(instance.workload);
  const auto best = test::best_plan(instance, kind, must, kSteps);
  if (!best) {
    ++totals.given_up;
    return;
  }
  ++totals.judged;
  EXPECT_NEAR(certify::objective(instance, kind, best->placement).value, best->value, kRounding);
  model::Certificate prices = test::random_prices(dice, instance, kind);
  if (cluster != Cluster::stays && cluster != Cluster::gangs) {
    add_job_prices(dice, instance, kind, prices);
  }
  if (prices.jobs.empty()) test::add_gang_prices(dice, instance, prices);
  add_shared_prices(dice, instance, kind, prices);
  add_spare_prices(dice, instance, kind, prices);
  if (cluster == Cluster::stays || cluster == Cluster::gangs) {
    choose_sets(dice, kind, prices);
  } else {
    choose_whole_jobs(dice, kind, prices);
  }
  ASSERT_EQ(certify::unusable(instance, kind, prices), "");
  const certify::Bound first = certify::upper_bound(instance, kind, prices, required);
  double least = first.value;
  ASSERT_GE(least, best->value - kRounding) << "at random prices";
  for (int n = 0; n < nudges; ++n) {
    const bool shared = !prices.limits.empty() && dice.chance(40);
    const model::Certificate other =
        shared ? shared_moved(dice, instance, kind, prices) : moved(dice, prices);
    const double bound = certify::upper_bound(instance, kind, other, required).value;
    ASSERT_GE(bound, best->value - kRounding) << "after " << n << " nudges";
    if (bound <= least) prices = other;
    least = std::min(least, bound);
  }
  if (std::ldexp(static_cast<double>(first.zero_price), -first.scale_log2) <= best->value * 1.05) {
    return;
  }
  ++totals.contended;
  if (least > best->value * 1.05) return;
  ++totals.tight;
  if (!prices.jobs.empty()) ++totals.by_jobs;
  if (some_stay(instance, kind, prices, required)) {
    ++(prices.whole_jobs.in_cluster() ? totals.stays_of_sets : totals.stays);
  }
  if (gangs_matter(instance, kind, prices, required)) ++totals.gangs;
  if (prices.whole_jobs.in_cluster()) ++totals.whole;
  if (prices.whole_jobs.in_home_racks()) ++totals.at_home;
  for (std::size_t k = 0; k < model::kLimitKinds; ++k) {
    totals.by_limits[k] +=
        std::ranges::any_of(prices.limits,
                            [&](const auto& l) { return index_of(l.kind) == k && l.price > 0; })
            ? 1
            : 0;
  }
}

Totals judge_many(std::uint64_t first, int instances, int nudges, Cluster cluster) {
  const parallel::ThreadLimit one(1);  // tiny instances
  Totals totals;
  for (int i = 0; i < instances && !testing::Test::HasFatalFailure(); ++i) {
    judge(first + static_cast<std::uint64_t>(i), nudges, cluster, totals);
  }
  std::printf(
      "judged %d, contended %d, tight %d (with prices of jobs %d, whole jobs %d, at home %d, of "
      "quotas %d, of "
      "uplinks %d, of "
      "power %d, of spare GPUs %d), "
      "given up or infeasible %d\n",
      totals.judged, totals.contended, totals.tight, totals.by_jobs, totals.whole, totals.at_home,
      totals.by_limits[0], totals.by_limits[1], totals.by_limits[2], totals.by_limits[3],
      totals.given_up);
  return totals;
}

TEST(BoundProperty, is_never_below_the_optimum) {
  const Totals totals = judge_many(1, 3000, 200, Cluster::empty);
  EXPECT_GT(totals.judged, 2000);
  EXPECT_GT(totals.tight, 50) << "bounds too weak to find a mistake";
  EXPECT_GT(totals.by_jobs, 50) << "bounds by job prices too weak to find a mistake";
  EXPECT_GT(totals.whole, 50) << "bounds by whole jobs too weak to find a mistake";
  EXPECT_GT(totals.at_home, 20) << "bounds by home racks too weak to find a mistake";
  EXPECT_GT(totals.at_home, 20) << "bounds by home racks too weak to find a mistake";
}

TEST(BoundProperty, is_never_below_the_optimum_of_a_cluster_at_work) {
  const Totals totals = judge_many(500'000, 3000, 200, Cluster::at_work);
  EXPECT_GT(totals.judged, 2000);
  EXPECT_GT(totals.tight, 50) << "bounds too weak to find a mistake";
}

/// Without prices of jobs, so that jobs that stay are contents of their machines.
TEST(BoundProperty, is_never_below_the_optimum_where_running_jobs_stay) {
  const Totals totals = judge_many(600'000, 3000, 200, Cluster::stays);
  EXPECT_GT(totals.judged, 2000);
  std::printf("with jobs that stay: %d, of sets: %d\n", totals.stays, totals.stays_of_sets);
  EXPECT_GT(totals.stays, 5) << "bounds by jobs that stay too weak to find a mistake";
  EXPECT_GT(totals.stays_of_sets, 5) << "bounds by sets too weak to find a mistake";
}

TEST(BoundProperty, is_never_below_the_optimum_where_gangs_pay_for_racks) {
  const Totals totals = judge_many(1'500'000, 3000, 200, Cluster::gangs);
  EXPECT_GT(totals.judged, 2000);
  std::printf("with prices of gangs that matter: %d\n", totals.gangs);
  EXPECT_GT(totals.gangs, 15) << "bounds by prices of gangs too weak to find a mistake";
}

TEST(BoundProperty, is_never_below_the_optimum_with_nics_and_slices) {
  const Totals totals = judge_many(700'000, 3000, 200, Cluster::limited);
  EXPECT_GT(totals.judged, 2000);
  EXPECT_GT(totals.tight, 50) << "bounds too weak to find a mistake";
}

TEST(BoundProperty, is_never_below_the_optimum_within_power_budgets) {
  const Totals totals = judge_many(900'000, 3000, 200, Cluster::power);
  EXPECT_GT(totals.judged, 2000);
  EXPECT_GT(totals.tight, 40) << "bounds too weak to find a mistake";
  EXPECT_GT(totals.by_limits[index_of(model::LimitKind::power)], 20);
}

TEST(BoundProperty, is_never_below_the_optimum_under_rules_about_machines) {
  const Totals totals = judge_many(1'100'000, 1000, 150, Cluster::ruled);
  EXPECT_GT(totals.judged, 700);
  EXPECT_GT(totals.tight, 20) << "bounds too weak to find a mistake";
}

TEST(BoundProperty, is_never_below_the_optimum_with_spare_gpus) {
  const Totals totals = judge_many(1'300'000, 2000, 200, Cluster::spare);
  EXPECT_GT(totals.judged, 1400);
  EXPECT_GT(totals.by_limits[index_of(model::LimitKind::spare)], 20);
}

TEST(BoundPropertySlow, is_never_below_the_optimum_on_many) {
  judge_many(1'000'000, 4'000, 600, Cluster::empty);
  judge_many(2'000'000, 4'000, 600, Cluster::at_work);
  judge_many(3'000'000, 4'000, 600, Cluster::limited);
  judge_many(4'000'000, 4'000, 600, Cluster::power);
  judge_many(5'000'000, 4'000, 600, Cluster::ruled);
  judge_many(6'000'000, 4'000, 600, Cluster::spare);
  judge_many(7'000'000, 4'000, 600, Cluster::gangs);
}

}  // namespace
}  // namespace berth
