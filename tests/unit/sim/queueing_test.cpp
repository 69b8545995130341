// SPDX-License-Identifier: Apache-2.0
// The simulator against queueing theory: mean waiting times within the confidence interval of
// batch means (Law and Kelton 1982).
#include "one_pool.hpp"
#include "sanitized.hpp"

#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::test {
namespace {

constexpr std::size_t kJobs = kSanitized ? 20'000 : 120'000;
constexpr std::size_t kBatches = 30;
constexpr double kT99 = 2.756;  ///< Student's t, 29 degrees of freedom, 99 % two-sided

double exponential(double mean, std::uint64_t seed, std::uint64_t job, std::uint64_t draw) {
  return -mean * std::log(1.0 - random_unit({seed, job, draw}));
}

/// Jobs of one GPU that arrive as a Poisson process; times in seconds.
std::vector<TraceRow> poisson(double rate, std::uint64_t seed,
                              const std::function<double(std::uint64_t)>& service) {
  std::vector<TraceRow> rows;
  double arrival = 0.0;
  for (std::uint64_t j = 0; j < kJobs; ++j) {
    arrival += exponential(1.0 / rate, seed, j, 0);
    rows.push_back({std::llround(arrival * 1e6), 1, 1 + std::llround(service(j) * 1e6)});
  }
  return rows;
}

/// Mean waiting time and half of its confidence interval, without the first tenth.
struct Interval {
  double mean = 0.0, half = 0.0;
};
Interval mean_wait(const sim::Run& run) {
  const std::size_t first = run.records.size() / 10;
  const std::size_t length = (run.records.size() - first) / kBatches;
  std::vector<double> batches;
  for (std::size_t b = 0; b < kBatches; ++b) {
    double sum = 0.0;
    for (std::size_t j = first + b * length; j < first + (b + 1) * length; ++j) {
      const auto& record = run.records[j];
      sum += static_cast<double>(record.runs.front().start - record.arrival) / 1e6;
    }
    batches.push_back(sum / static_cast<double>(length));
  }
  const double mean = std::accumulate(batches.begin(), batches.end(), 0.0) / kBatches;
  double squares = 0.0;
  for (const double batch : batches) squares += (batch - mean) * (batch - mean);
  return {mean, kT99 * std::sqrt(squares / (kBatches - 1) / kBatches)};
}

void expect_wait(const std::vector<TraceRow>& rows, int gpus, double theory) {
  const Interval wait = mean_wait(replay(one_pool(gpus, 1), trace_of(rows), "fifo"));
  EXPECT_NEAR(wait.mean, theory, wait.half);
  EXPECT_LT(wait.half, (kSanitized ? 0.5 : 0.25) * theory);  // the interval says something
}

TEST(Queueing, m_m_1) {
  const double rate = 0.7;  // service rate 1: W = rho / (mu - lambda)
  const auto rows = poisson(rate, 11, [](std::uint64_t j) { return exponential(1.0, 11, j, 1); });
  expect_wait(rows, 1, rate / (1.0 - rate));
}

TEST(Queueing, m_g_1) {
  // service 0.5 or, with probability 0.1, 4: E S = 0.85, E S^2 = 1.825. Pollaczek and Khinchine:
  // W = lambda E S^2 / (2 (1 - rho))
  const double rate = 0.8, rho = rate * 0.85;
  const auto rows = poisson(rate, 12, [](std::uint64_t j) {
    return random_unit({12, j, 1}) < 0.1 ? 4.0 : 0.5;
  });
  expect_wait(rows, 1, rate * 1.825 / (2.0 * (1.0 - rho)));
}

TEST(Queueing, m_m_c) {
  // Erlang C with c = 5, a = lambda / mu = 4
  const double rate = 4.0, a = 4.0;
  const int c = 5;
  double sum = 0.0, term = 1.0;
  for (int k = 0; k < c; ++k) {
    sum += term;
    term *= a / (k + 1);
  }
  const double last = term / (1.0 - a / c);
  const double waits = last / (sum + last);
  const auto rows = poisson(rate, 13, [](std::uint64_t j) { return exponential(1.0, 13, j, 1); });
  expect_wait(rows, c, waits / (c - rate));
}

TEST(Queueing, srtf_beats_fifo_on_one_gpu) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    auto rows = poisson(0.9, seed, [&](std::uint64_t j) { return exponential(1.0, seed, j, 1); });
    rows.resize(5000);
    const sim::Trace trace = trace_of(rows);
    EXPECT_LT(mean_jct(replay(one_pool(1, 1), trace, "srtf")),
              mean_jct(replay(one_pool(1, 1), trace, "fifo")));
  }
}

}  // namespace
}  // namespace berth::test
