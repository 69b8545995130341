// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"
#include "berth/speed/coded_gang.hpp"

namespace berth::speed {
namespace {

/// Published model, figures recomputed: best k, n x time, limits for many workers, gain over all n.
struct TableRow {
  double tail;
  std::int32_t n, best;
  double limit_k, time, limit_time, gain;
};
constexpr TableRow kTable[] = {{0.5, 100, 58, 57.6, 4.692, 4.715, 2.42},
                               {1.0, 100, 69, 68.2, 3.131, 3.146, 1.98},
                               {1.0, 1000, 682, 682.2, 3.145, 3.146, 2.70},
                               {2.0, 100, 78, 77.8, 2.241, 2.253, 1.60}};

TEST(CodedGang, TableOfBestK) {
  for (const TableRow& row : kTable) {
    const std::int32_t k = best_k_of(row.n, row.tail);
    EXPECT_EQ(k, row.best);
    const double time = row.n * coded_time(row.n, k, row.tail);
    EXPECT_NEAR(time, row.time, 0.01 * row.time);
    EXPECT_NEAR(row.n * uncoded_time(row.n, row.tail) / time, row.gain, 0.01 * row.gain);
    const CodedLimit limit = coded_limit(row.tail);
    EXPECT_NEAR(limit.share * row.n, row.limit_k, 0.01 * row.limit_k);
    EXPECT_NEAR(limit.time, row.limit_time, 0.01 * row.limit_time);
  }
}

TEST(CodedGang, NoOtherKIsBetter) {
  for (const double tail : {0.1, 1.0, 10.0}) {
    for (const std::int32_t n : {1, 2, 7, 40}) {
      const double best = coded_time(n, best_k_of(n, tail), tail);
      for (std::int32_t k = 1; k <= n; ++k) EXPECT_LE(best, coded_time(n, k, tail));
    }
  }
}

TEST(CodedGang, DrawnIterationsHaveTheExpectedTime) {
  for (const TableRow& row : kTable) {
    const CodedJob job = {
        .seconds = 3.0, .tail = row.tail, .workers = row.n, .needed = row.best, .reference = 1.0};
    const std::uint64_t draws = 200'000 / static_cast<std::uint64_t>(row.n);
    double sum = 0.0;
    for (std::uint64_t i = 0; i < draws; ++i) sum += drawn_seconds(job, 7, JobId(3), i);
    const double mean = sum / static_cast<double>(draws);
    EXPECT_NEAR(mean, expected_seconds(job), 0.01 * expected_seconds(job));
    EXPECT_NEAR(row.n * mean / 3.0, row.time, 0.01 * row.time);
  }
}

TEST(CodedGang, CodesAreAheadOfReplicationWhichNeedsStragglers) {
  for (const double tail : {0.5, 1.0}) {
    const double coded = coded_time(100, best_k_of(100, tail), tail);
    EXPECT_LT(coded, replicated_time(100, 2, tail));
    EXPECT_DOUBLE_EQ(replicated_time(100, 1, tail), uncoded_time(100, tail));
  }
  EXPECT_LT(replicated_time(100, 2, 0.5), uncoded_time(100, 0.5));
  EXPECT_GT(replicated_time(100, 2, 1.0), uncoded_time(100, 1.0));
}

TEST(CodedGang, TailsAreFittedFromWorkerTimes) {
  std::vector<double> seconds;
  for (std::uint64_t i = 0; i < 4'000; ++i)
    seconds.push_back(5.0 * (1.0 - std::log1p(-random_unit({0x7A11, i})) / 2.0));
  const WorkerTimes fitted = fit_worker_times(seconds);
  EXPECT_NEAR(fitted.shift, 5.0, 0.05);
  EXPECT_NEAR(fitted.tail, 2.0, 0.1);
}

TEST(CodedModel, AnIterationEndsWhereItsDrawSays) {
  const std::vector<CodedJob> jobs = {
      {.seconds = 2.0, .tail = 1.0, .workers = 10, .needed = 7, .reference = 0.5}, {}};
  class One final : public Model {
   public:
    [[nodiscard]] bool coupled() const override { return false; }
    void rates(std::span<const RunningJob> running, std::span<Rate> rates) const override {
      for (std::size_t i = 0; i < running.size(); ++i) rates[i] = {.per_second = 1.0};
    }
  } others;
  const CodedModel model(jobs, 9, others);
  std::vector<Rate> rates(3);
  const std::vector<RunningJob> running = {
      {.job = JobId(0), .gpu_type = {}, .machines = {}, .work = 6.0},
      {.job = JobId(1), .gpu_type = {}, .machines = {}, .work = 6.0},
      {.job = JobId(0), .gpu_type = {}, .machines = {}, .work = 6.0, .expected = true}};
  model.rates(running, rates);
  // Iteration 3 is 2 seconds of work, from 6 to 8.
  EXPECT_DOUBLE_EQ(2.0 / rates[0].per_second, drawn_seconds(jobs[0], 9, JobId(0), 3));
  EXPECT_DOUBLE_EQ(rates[0].until_work, 8.0);
  EXPECT_DOUBLE_EQ(rates[1].per_second, 1.0);
  EXPECT_DOUBLE_EQ(2.0 / rates[2].per_second, expected_seconds(jobs[0]));
  EXPECT_THROW(
      CodedModel(std::vector<CodedJob>{{.workers = 3, .needed = 4, .reference = 1.0}}, 1, others),
      std::invalid_argument);
}

}  // namespace
}  // namespace berth::speed
