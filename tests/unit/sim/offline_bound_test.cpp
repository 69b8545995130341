// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/offline_bound.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/error.hpp"
#include "berth/base/random.hpp"
#include "berth/certify/preemptive.hpp"
#include "berth/horizon/problem_builder.hpp"

namespace berth::test {
namespace {

struct Row {
  horizon::Seconds release;
  std::int32_t gpus;
  horizon::Seconds duration;
};

horizon::Problem problem_of(const std::vector<Row>& rows, std::int32_t gpus) {
  horizon::ProblemBuilder builder;
  const PoolId pool = builder.add_pool(horizon::CurveId(0), 1, gpus);
  const auto set = builder.add_pool_set(std::span(&pool, 1));
  for (const Row& row : rows) {
    builder.add_job(row.release);
    const horizon::CostPiece cost = horizon::flow_cost(row.release, 1.0);
    const horizon::TaskGroup tasks{.tasks = row.gpus, .gpus = 1};
    builder.add_option(set, row.duration, std::span(&tasks, 1),
                       builder.add_cost(std::span(&cost, 1)));
  }
  return builder.build();
}

double bound_of(const horizon::Problem& problem, horizon::Seconds end) {
  return certify::prove_preemptive(problem, sim::preemptive_prices(problem, end));
}

TEST(OfflineBound, holds_for_the_best_preemptive_schedule) {
  // least remaining time first is optimal on one GPU: the job of 100 s is stopped for that of 10 s
  // (10 + 110), while without a stop 10 s wait until 100 (100 + 100) or the long one until 15
  const double any = bound_of(problem_of({{0, 1, 100}, {5, 1, 10}}, 1), 110);
  EXPECT_LE(any, 120.0);
  EXPECT_GE(any, 119.0);
}

TEST(OfflineBound, is_near_the_optimum_of_a_queue) {
  // 20 jobs of 10 s on one GPU from second 0: 10 + 20 + ... + 200 = 2100
  const double any = bound_of(problem_of(std::vector<Row>(20, Row{0, 1, 10}), 1), 200);
  EXPECT_LE(any, 2100.0);
  EXPECT_GE(any, 0.93 * 2100.0);
}

TEST(OfflineBound, a_job_runs_on_one_type_at_a_time) {
  // on a fast GPU the job takes 10 s, on a slow one 20 s; both at once would take 6.7 s
  horizon::ProblemBuilder builder;
  std::vector<horizon::PoolSetId> sets;
  for (int t = 0; t < 2; ++t) {
    const PoolId pool = builder.add_pool(horizon::CurveId(t), 1, 1);
    sets.push_back(builder.add_pool_set(std::span(&pool, 1)));
  }
  const horizon::TaskGroup one{.tasks = 1, .gpus = 1};
  for (int j = 0; j < 2; ++j) {
    builder.add_job(0);
    const horizon::CostPiece cost = horizon::flow_cost(0, 1.0);
    const auto pieces = builder.add_cost(std::span(&cost, 1));
    builder.add_option(sets[0], 10, std::span(&one, 1), pieces);
    builder.add_option(sets[1], 20, std::span(&one, 1), pieces);
  }
  // the first one runs on the fast GPU, the second one on the slow one for 10 s, then for 5 s on
  // the fast one: 10 + 15. Two types at a time would allow no more here; for one job, they would.
  const double any = bound_of(builder.build(), 15);
  EXPECT_LE(any, 25.0);
  EXPECT_GE(any, 24.5);
}

/// Tiny cases on two types: a fast GPU does 2 units of work a second, a slow one 1.
struct TinyJob {
  int release, work, gpus;
  bool only_fast;
};

/// The least sum of completions less releases over all schedules that decide at whole seconds.
class Exhaustion {
 public:
  Exhaustion(std::vector<TinyJob> jobs, int fast, int slow)
      : jobs_(std::move(jobs)), fast_(fast), slow_(slow) {
    std::vector<int> left;
    for (const TinyJob& job : jobs_) left.push_back(job.work);
    least_ = best(0, left);
  }
  [[nodiscard]] int least() const { return least_; }

 private:
  int best(int time, const std::vector<int>& left) {
    if (std::ranges::all_of(left, [](int w) { return w == 0; })) return 0;
    if (time > 24) return 1'000'000;
    auto key = left;
    key.push_back(time);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    std::vector<int> next = left;
    const int found = choose(0, time, fast_, slow_, left, next);
    known_[key] = found;
    return found;
  }
  int choose(std::size_t j, int time, int fast, int slow, const std::vector<int>& left,
             std::vector<int>& next) {
    if (j == jobs_.size()) {
      int waiting = 0;
      for (std::size_t i = 0; i < jobs_.size(); ++i) {
        waiting += left[i] > 0 && jobs_[i].release <= time ? 1 : 0;
      }
      return waiting + best(time + 1, next);
    }
    next[j] = left[j];
    int least = choose(j + 1, time, fast, slow, left, next);
    if (left[j] == 0 || jobs_[j].release > time) return least;
    if (jobs_[j].gpus <= fast) {
      next[j] = std::max(0, left[j] - 2);
      least = std::min(least, choose(j + 1, time, fast - jobs_[j].gpus, slow, left, next));
    }
    if (jobs_[j].gpus <= slow && !jobs_[j].only_fast) {
      next[j] = left[j] - 1;
      least = std::min(least, choose(j + 1, time, fast, slow - jobs_[j].gpus, left, next));
    }
    next[j] = left[j];
    return least;
  }

  std::vector<TinyJob> jobs_;
  int fast_, slow_;
  int least_ = 0;
  std::map<std::vector<int>, int> known_;
};

TEST(OfflineBound, is_below_every_schedule_of_tiny_cases_and_near_the_best) {
  double above = 0.0;
  constexpr int kCases = 20;
  for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::uint64_t draws = 0;
    const auto below = [&](int bound) {
      return static_cast<int>(random_below(static_cast<std::uint64_t>(bound), {seed, draws++}));
    };
    const int fast = 1 + below(2), slow = 1 + below(2);
    std::vector<TinyJob> jobs;
    for (int j = 0; j < 4; ++j) {
      const int gpus = 1 + below(fast);
      jobs.push_back({below(4), 2 * (1 + below(3)), gpus, below(3) == 0 || gpus > slow});
    }
    horizon::ProblemBuilder builder;
    std::vector<horizon::PoolSetId> sets;
    for (int t = 0; t < 2; ++t) {
      const PoolId pool = builder.add_pool(horizon::CurveId(t), 1, t == 0 ? fast : slow);
      sets.push_back(builder.add_pool_set(std::span(&pool, 1)));
    }
    for (const TinyJob& job : jobs) {
      builder.add_job(job.release);
      const horizon::CostPiece cost = horizon::flow_cost(job.release, 1.0);
      const auto pieces = builder.add_cost(std::span(&cost, 1));
      const horizon::TaskGroup tasks{.tasks = job.gpus, .gpus = 1};
      builder.add_option(sets[0], job.work / 2, std::span(&tasks, 1), pieces);
      if (!job.only_fast) builder.add_option(sets[1], job.work, std::span(&tasks, 1), pieces);
    }
    const int least = Exhaustion(jobs, fast, slow).least();
    const double bound = bound_of(builder.build(), 24);
    EXPECT_LE(bound, least);
    above += (least - bound) / least / kCases;
  }
  EXPECT_LT(above, 0.07);
}

/// No prices prove more than the best schedule.
TEST(OfflineBound, random_prices_prove_no_more) {
  const horizon::Problem problem = problem_of({{0, 2, 5}, {1, 1, 3}, {1, 2, 2}, {3, 1, 4}}, 2);
  const int least =
      Exhaustion({{0, 10, 2, true}, {1, 6, 1, true}, {1, 4, 2, true}, {3, 8, 1, true}}, 2, 0)
          .least();
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    horizon::PriceCertificate prices{.nodes = {0}, .starts = {}, .slopes = {}};
    for (std::uint64_t k = 0; k < 6; ++k) {
      const auto unit = random_unit({seed, k});
      prices.nodes.push_back(prices.nodes.back() + 1 +
                             static_cast<horizon::Seconds>(random_below(4, {seed, k, 1})));
      const double scale = std::exp2(static_cast<double>(29 + seed % 4));
      prices.starts.push_back(std::llround(unit * unit * scale));
    }
    prices.slopes.assign(prices.starts.size(), 0);
    EXPECT_LE(certify::prove_preemptive(problem, prices), least);
  }
}

TEST(OfflineBound, proves_what_prices_give_by_hand) {
  // alone, the job completes at 10 and pays 10 s x 1/4; all GPU time costs 20 s x 1/4
  const horizon::Problem one = problem_of({{0, 1, 10}}, 1);
  const horizon::PriceCertificate quarter{.nodes = {0, 20}, .starts = {1LL << 30}, .slopes = {0}};
  EXPECT_NEAR(certify::prove_preemptive(one, quarter), 10.0 + 2.5 - 5.0, 1e-6);
  // at a price of 4 it waits for second 20, and runs free of charge
  const horizon::PriceCertificate four{.nodes = {0, 20}, .starts = {1LL << 34}, .slopes = {0}};
  EXPECT_NEAR(certify::prove_preemptive(one, four), 30.0 - 80.0, 1e-6);
}

/// Dear seconds, then free ones: the job completes at 10 and pays 5, or at 15 and pays nothing.
TEST(OfflineBound, counts_what_cheaper_seconds_before_the_completion_save) {
  const horizon::Problem one = problem_of({{0, 1, 10}}, 1);
  const horizon::PriceCertificate falling{
      .nodes = {0, 5, 20}, .starts = {1LL << 32, 0}, .slopes = {0, 0}};
  EXPECT_NEAR(certify::prove_preemptive(one, falling), 15.0 - 5.0, 1e-6);
}

TEST(OfflineBound, refuses_prices_that_are_not_constant) {
  const horizon::Problem problem = problem_of({{0, 1, 5}}, 2);
  const horizon::PriceCertificate sloped{.nodes = {0, 9}, .starts = {9}, .slopes = {-1}};
  EXPECT_THROW((void)certify::prove_preemptive(problem, sloped), InputError);
  const horizon::PriceCertificate negative{.nodes = {0, 9}, .starts = {-9}, .slopes = {0}};
  EXPECT_THROW((void)certify::prove_preemptive(problem, negative), InputError);
  const horizon::PriceCertificate few{.nodes = {0, 9}, .starts = {}, .slopes = {}};
  EXPECT_THROW((void)certify::prove_preemptive(problem, few), InputError);
}

}  // namespace
}  // namespace berth::test
