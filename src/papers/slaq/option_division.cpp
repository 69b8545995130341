// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/papers/quality_allocation.hpp"

namespace berth::papers {
namespace {

/// The next option of a job.
struct NextOption {
  double gain = 0.0;  ///< per GPU
  std::int32_t option = 0;
  std::size_t job = 0;

  bool operator<(const NextOption& other) const {
    return std::tuple(gain, other.job) < std::tuple(other.gain, job);
  }
};

double gain_per_gpu(const SizeOption& from, const SizeOption& to) {
  return (to.value - from.value) / (to.gpus - from.gpus);
}

/// The next vertex of the envelope after option `at`; gain 0: there is none.
NextOption next_vertex(std::span<const SizeOption> options, std::int32_t at, std::size_t job) {
  NextOption best{.gain = 0.0, .option = at, .job = job};
  const SizeOption& from = options[static_cast<std::size_t>(at)];
  for (auto o = static_cast<std::size_t>(at) + 1; o < options.size(); ++o) {
    BERTH_EXPECT(options[o].gpus > options[o - 1].gpus);
    if (const double gain = gain_per_gpu(from, options[o]); gain > best.gain)
      best = {.gain = gain, .option = static_cast<std::int32_t>(o), .job = job};
  }
  return best;
}

}  // namespace

std::vector<std::int32_t> divide_options(std::span<const std::vector<SizeOption>> jobs,
                                         double gpus) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t j) {
    return jobs[j].front().value / jobs[j].front().gpus;
  });
  std::vector<std::int32_t> chosen(jobs.size(), -1);
  std::priority_queue<NextOption> queue;
  const auto push = [&](std::size_t j) {
    if (const NextOption next = next_vertex(jobs[j], chosen[j], j); next.gain > 0.0)
      queue.push(next);
  };
  for (const std::size_t j : order) {
    if (jobs[j].front().gpus > gpus) continue;
    gpus -= jobs[j].front().gpus;
    chosen[j] = 0;
    push(j);
  }
  while (!queue.empty()) {
    const NextOption next = queue.top();
    queue.pop();
    const auto has = static_cast<std::size_t>(chosen[next.job]);
    const double more =
        jobs[next.job][static_cast<std::size_t>(next.option)].gpus - jobs[next.job][has].gpus;
    if (more > gpus) continue;
    gpus -= more;
    chosen[next.job] = next.option;
    push(next.job);
  }
  return chosen;
}

}  // namespace berth::papers
