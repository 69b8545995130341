// SPDX-License-Identifier: Apache-2.0
#include "job_mix.hpp"

#include <array>
#include <cmath>

namespace berth::policy {
namespace {

struct SizeShare {
  std::int64_t milli;
  double share;  ///< of the jobs
};

/// Counts as in Philly and openb (one GPU or less leads), GPU time as in Kalos (large gangs lead).
constexpr std::array<SizeShare, 17> kMix{{
    {0, 0.08},
    {kShareClass, 0.17},
    {1'000, 0.36},
    {2'000, 0.11},
    {3'000, 0.01},
    {4'000, 0.09},
    {6'000, 0.01},
    {8'000, 0.085},
    {12'000, 0.01},
    {16'000, 0.035},
    {24'000, 0.005},
    {32'000, 0.018},
    {48'000, 0.003},
    {64'000, 0.009},
    {128'000, 0.0035},
    {256'000, 0.0012},
    {512'000, 0.0003},
}};

double weight(const SizeShare& size, double tilt, std::int64_t max_gpus) {
  if (size.milli > 1000 * max_gpus) return 0.0;
  if (size.milli < 1000) return size.share;
  return size.share * std::pow(static_cast<double>(size.milli) / 1000.0, tilt);
}

/// Jobs by size: the sizes' shares laid end to end and cut into `jobs` equal pieces, each piece of
/// the size at its middle. Only GPU sizes are tilted; the others keep their share.
std::vector<SizeCount> counts(std::int64_t jobs, double tilt, std::int64_t max_gpus) {
  double below_one = 0.0;
  double above = 0.0;
  for (const SizeShare& s : kMix) (s.milli < 1000 ? below_one : above) += weight(s, tilt, max_gpus);
  std::vector<SizeCount> result;
  double cumulative = 0.0;
  std::int64_t done = 0;
  for (const SizeShare& s : kMix) {
    const double scale = s.milli < 1000 ? 1.0 : (1.0 - below_one) / above;
    cumulative += weight(s, tilt, max_gpus) * scale;
    const auto end = static_cast<std::int64_t>(cumulative * static_cast<double>(jobs) + 0.5);
    result.push_back({s.milli, end - done});
    done = end;
  }
  return result;
}

std::int64_t sum(const std::vector<SizeCount>& sizes) {
  std::int64_t total = 0;
  for (const SizeCount& s : sizes) total += s.milli * s.jobs;
  return total;
}

}  // namespace

double mean_milli(std::int64_t max_gpus) {
  double total = 0.0;
  double jobs = 0.0;
  for (const SizeShare& s : kMix) {
    jobs += weight(s, 0.0, max_gpus);
    total += weight(s, 0.0, max_gpus) * static_cast<double>(s.milli);
  }
  return total / jobs;
}

std::vector<SizeCount> job_mix(std::int64_t jobs, std::int64_t total_milli, std::int64_t max_gpus) {
  double low = -8.0;  // nearly all of 1 GPU
  double high = 8.0;  // nearly all of the largest size
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (sum(counts(jobs, middle, max_gpus)) < total_milli ? low : high) = middle;
  }
  return counts(jobs, high, max_gpus);
}

}  // namespace berth::policy
