// SPDX-License-Identifier: Apache-2.0
#include "berth/speed/coded_gang.hpp"

#include "positive.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>

#include "berth/base/assert.hpp"
#include "berth/base/option_range.hpp"
#include "berth/base/random.hpp"

namespace berth::speed {
namespace {

constexpr std::uint64_t kCodedDraws = 0xC0DED;

/// H_n - H_(n-k).
double harmonic_part(std::int32_t n, std::int32_t k) {
  double sum = 0.0;
  for (std::int32_t i = n - k + 1; i <= n; ++i) sum += 1.0 / i;
  return sum;
}

}  // namespace

double coded_time(std::int32_t n, std::int32_t k, double tail) {
  expect_option("coded gangs: k", k, {.least = 1.0, .most = static_cast<double>(n)});
  expect_option("coded gangs: tail", tail, above(0.0));
  return (1.0 + harmonic_part(n, k) / tail) / k;
}

double uncoded_time(std::int32_t n, double tail) { return coded_time(n, n, tail); }

double replicated_time(std::int32_t n, std::int32_t copies, double tail) {
  expect_option("coded gangs: copies", copies, {.least = 1.0, .most = static_cast<double>(n)});
  expect_option("coded gangs: tail", tail, above(0.0));
  BERTH_EXPECT(n % copies == 0);
  const std::int32_t parts = n / copies;
  return (1.0 + harmonic_part(parts, parts) / (copies * tail)) / parts;
}

std::int32_t best_k_of(std::int32_t n, double tail) {
  expect_option("coded gangs: n", n, at_least(1.0));
  expect_option("coded gangs: tail", tail, above(0.0));
  std::int32_t best = 1;
  double least = 0.0, sum = 0.0;
  for (std::int32_t k = 1; k <= n; ++k) {
    sum += 1.0 / (n - k + 1);
    const double time = (1.0 + sum / tail) / k;
    if (k > 1 && time >= least) continue;
    least = time;
    best = k;
  }
  return best;
}

CodedLimit coded_limit(double tail) {
  expect_option("coded gangs: tail", tail, above(0.0));
  // w = -W > 1 solves w - log w = tail + 1; the left side grows from 1 on.
  double low = 1.0, high = 2.0;
  const auto excess = [&](double w) { return w - std::log(w) - (tail + 1.0); };
  while (excess(high) < 0.0) high *= 2.0;
  for (int i = 0; i < 200 && high - low > 1e-15 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (excess(middle) < 0.0 ? low : high) = middle;
  }
  return {.share = 1.0 - 1.0 / high, .time = high / tail};
}

WorkerTimes fit_worker_times(std::span<const double> seconds) {
  BERTH_EXPECT(seconds.size() >= 2);
  const double shift = std::ranges::min(seconds);
  const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  const double excess = sum / static_cast<double>(seconds.size()) - shift;
  BERTH_EXPECT(shift > 0.0 && excess > 0.0);
  return {.shift = shift, .tail = shift / excess};
}

double expected_seconds(const CodedJob& job) {
  return job.seconds * coded_time(job.workers, job.needed, job.tail);
}

double drawn_seconds(const CodedJob& job, std::uint64_t seed, JobId id, std::uint64_t iteration) {
  std::vector<double> excess(static_cast<std::size_t>(job.workers));
  for (std::size_t w = 0; w < excess.size(); ++w)
    excess[w] = -std::log1p(-random_unit({kCodedDraws, seed, id.index(), iteration, w}));
  const auto last = excess.begin() + (job.needed - 1);
  std::ranges::nth_element(excess, last);
  return job.seconds / job.needed * (1.0 + *last / job.tail);
}

CodedModel::CodedModel(std::span<const CodedJob> jobs, std::uint64_t seed, const Model& others)
    : jobs_(jobs), seed_(seed), others_(&others) {
  for (const CodedJob& job : jobs) {
    if (job.reference == 0.0) continue;
    check_amounts("coded gangs", {job.seconds, job.tail, job.reference}, {});
    if (job.needed < 1 || job.needed > job.workers)
      throw std::invalid_argument("coded gangs: k_of is " + std::to_string(job.needed) +
                                  ", and has to be in 1 .. " + std::to_string(job.workers));
  }
}

void CodedModel::rates(std::span<const RunningJob> running, std::span<Rate> rates) const {
  others_->rates(running, rates);
  for (std::size_t i = 0; i < running.size(); ++i) {
    const CodedJob& job = jobs_[running[i].job.index()];
    if (job.reference == 0.0) continue;
    if (running[i].expected) {
      rates[i] = {.per_second = 1.0 / (expected_seconds(job) * job.reference)};
      continue;
    }
    // An iteration is 1 / reference seconds of work; the clock of a simulation rounds its end.
    constexpr double kRounding = 1e-4;
    const double iteration = std::floor(running[i].work * job.reference + kRounding);
    const double seconds =
        drawn_seconds(job, seed_, running[i].job, static_cast<std::uint64_t>(iteration));
    rates[i] = {.per_second = 1.0 / (seconds * job.reference),
                .until_work = (iteration + 1.0) / job.reference};
  }
}

}  // namespace berth::speed
