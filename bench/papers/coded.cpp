// SPDX-License-Identifier: Apache-2.0
#include "experiment.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "berth/base/random.hpp"
#include "berth/speed/coded_gang.hpp"

namespace berth::bench {
namespace {

constexpr std::uint64_t kCodedRuns = 0xC0DE;

/// n x mean time of iterations that wait for k of n, drawn.
double mean_time(std::int32_t n, std::int32_t k, double tail, std::uint64_t seed,
                 std::uint64_t iterations) {
  const speed::CodedJob job = {
      .seconds = 1.0, .tail = tail, .workers = n, .needed = k, .reference = 1.0};
  double sum = 0.0;
  for (std::uint64_t i = 0; i < iterations; ++i)
    sum += speed::drawn_seconds(job, seed, JobId(0), i);
  return n * sum / static_cast<double>(iterations);
}

/// The same where each of n/2 parts is on two workers, the faster of which counts: an exponential
/// of twice the rate.
double replicated_mean(std::int32_t n, double tail, std::uint64_t seed, std::uint64_t iterations) {
  return 2.0 * mean_time(n / 2, n / 2, 2.0 * tail, seed, iterations);
}

/// The k that follows from times of workers seen before, as a planner knows them.
std::int32_t k_of_seen(std::int32_t n, double tail, std::uint64_t seed) {
  constexpr std::uint64_t kSeen = 200;
  std::vector<double> seconds;
  for (std::uint64_t i = 0; i < kSeen; ++i)
    seconds.push_back(1.0 - std::log1p(-random_unit({kCodedRuns, seed, i})) / tail);
  return speed::best_k_of(n, speed::fit_worker_times(seconds).tail);
}

void compare_coded(std::vector<ResultRow>& rows, std::int32_t n, double tail,
                   const ExperimentOptions& options) {
  const std::uint64_t iterations = options.smoke ? 50 : 2'000;
  const std::int32_t best = speed::best_k_of(n, tail);
  const std::string name =
      "tail " + std::to_string(tail).substr(0, 3) + ", " + std::to_string(n) + " workers";
  const auto row = [&](const char* scheduler) {
    return ResultRow{name, scheduler, "workers x time of an iteration", {}};
  };
  ResultRow all = row("all"), two = row("two copies"), coded = row("coded"), own = row("berth");
  ResultRow least = row("best expected");
  for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
    all.by_seed.push_back(mean_time(n, n, tail, seed, iterations));
    two.by_seed.push_back(replicated_mean(n, tail, seed, iterations));
    coded.by_seed.push_back(mean_time(n, best, tail, seed, iterations));
    own.by_seed.push_back(mean_time(n, k_of_seen(n, tail, seed), tail, seed, iterations));
    least.by_seed.push_back(n * speed::coded_time(n, best, tail));
  }
  for (ResultRow* added : {&all, &two, &coded, &own, &least}) rows.push_back(std::move(*added));
  const std::vector<double> chosen(options.seeds, best);
  rows.push_back({name, "best expected", "k", chosen});
  rows.push_back({name, "limit for many workers", "k",
                  std::vector<double>(options.seeds, n * speed::coded_limit(tail).share)});
}

}  // namespace

std::vector<ResultRow> run_coded(const ExperimentOptions& options) {
  std::vector<ResultRow> rows;
  const std::pair<std::int32_t, double> settings[] = {
      {100, 0.5}, {100, 1.0}, {1'000, 1.0}, {100, 2.0}};
  for (const auto& [n, tail] : settings) {
    compare_coded(rows, n, tail, options);
    options.ended(rows);
  }
  return rows;
}

}  // namespace berth::bench
