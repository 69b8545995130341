// SPDX-License-Identifier: Apache-2.0
#include "job_mix.hpp"

#include "draws.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace berth::generate {
namespace {

double weight(const SizeShare& size, double tilt) {
  if (size.milli < 1000 || tilt == 0.0) return size.share;
  return size.share * power(static_cast<double>(size.milli) / 1000.0, tilt);
}

/// Jobs by size: lays the shares of all sizes end to end, cuts them into `jobs` equal pieces and
/// gives each piece the size at its middle. Tilts sizes from 1 GPU only; the others keep their
/// share.
std::vector<std::int64_t> counts(std::int64_t jobs, double tilt, const Mix& mix) {
  double below_one = 0.0;
  double above = 0.0;
  double all = 0.0;
  for (const SizeShare& s : mix) {
    (s.milli < 1000 ? below_one : above) += weight(s, tilt);
    all += s.share;
  }
  std::vector<std::int64_t> result;
  double cumulative = 0.0;
  std::int64_t done = 0;
  for (const SizeShare& s : mix) {
    const double scale = s.milli < 1000 ? 1.0 : (all - below_one) / above;
    cumulative += weight(s, tilt) * scale / all;
    const auto end = static_cast<std::int64_t>(cumulative * static_cast<double>(jobs) + 0.5);
    result.push_back(end - done);
    done = end;
  }
  return result;
}

std::int64_t sum(const std::vector<std::int64_t>& jobs, const Mix& mix) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < mix.size(); ++i) total += mix[i].milli * jobs[i];
  return total;
}

std::vector<std::int64_t> tilted_counts(std::int64_t jobs, std::int64_t milli, const Mix& mix) {
  double low = -8.0;  // nearly all jobs of 1 GPU
  double high = 8.0;  // nearly all jobs of the largest size
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (sum(counts(jobs, middle, mix), mix) < milli ? low : high) = middle;
  }
  return counts(jobs, high, mix);
}

double mean_milli(const Mix& mix) {
  double total = 0.0;
  double jobs = 0.0;
  for (const SizeShare& s : mix) {
    jobs += s.share;
    total += s.share * static_cast<double>(s.milli);
  }
  return total / jobs;
}

double wanted_milli(const GenerateOptions& options) {
  return options.load * 1000.0 * static_cast<double>(options.gpus);
}

/// The largest size that asks for no more than `milli`, above 0; -1 when there is none.
std::int64_t largest_within(const Mix& mix, std::int64_t milli) {
  std::int64_t best = -1;
  for (const SizeShare& s : mix) {
    if (s.milli > 0 && s.milli <= milli) best = s.milli;
  }
  return best;
}

}  // namespace

std::int64_t max_job_gpus(std::int64_t gpus, std::int64_t part) {
  return std::max(gpus / part, std::min<std::int64_t>(gpus, 8));
}

Mix without_above(std::span<const SizeShare> mix, std::int64_t max_gpus) {
  Mix result(mix.begin(), mix.end());
  std::erase_if(result, [&](const SizeShare& s) { return s.milli > 1000 * max_gpus; });
  return result;
}

Mix cut_at(std::span<const SizeShare> mix, std::int64_t max_gpus) {
  Mix result = without_above(mix, max_gpus);
  double rest = 0.0;
  for (const SizeShare& s : mix.subspan(result.size())) rest += s.share;
  if (rest == 0.0) return result;
  const std::int64_t largest = 1000 * (max_gpus <= 8 ? max_gpus : max_gpus / 8 * 8);
  if (result.empty() || result.back().milli < largest) {
    result.push_back({.milli = largest, .share = 0.0});
  }
  result.back().share += rest;
  return result;
}

std::vector<std::int64_t> deal_sizes(const GenerateOptions& options, const Mix& mix) {
  const double wanted = wanted_milli(options);
  const auto jobs = options.jobs >= 0 ? options.jobs : std::llround(wanted / mean_milli(mix));
  std::vector<std::pair<std::uint64_t, std::size_t>> order(static_cast<std::size_t>(jobs));
  for (std::size_t j = 0; j < order.size(); ++j) {
    order[j] = {random_bits({options.seed, static_cast<std::uint64_t>(Draw::order), j}), j};
  }
  std::ranges::sort(order);
  const std::vector<std::int64_t> by_size = tilted_counts(jobs, std::llround(wanted), mix);
  std::vector<std::int64_t> result(order.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < mix.size(); ++i) {
    for (std::int64_t n = 0; n < by_size[i]; ++n) result[order[next++].second] = mix[i].milli;
  }
  return result;
}

std::vector<std::int64_t> draw_sizes(const GenerateOptions& options, const Mix& mix) {
  if (options.jobs >= 0) return deal_sizes(options, mix);
  std::vector<std::int64_t> result;
  std::int64_t left = std::llround(wanted_milli(options));
  while (left > 0) {
    Dice dice(options.seed, Draw::size, result.size());
    std::int64_t milli = mix[draw_index(dice, mix, [](const auto& s) { return s.share; })].milli;
    if (milli > left) milli = largest_within(mix, left);
    if (milli < 0) break;
    result.push_back(milli);
    left -= milli;
  }
  return result;
}

}  // namespace berth::generate
