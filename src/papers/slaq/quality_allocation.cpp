// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/quality_allocation.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "berth/base/option_range.hpp"

namespace berth::papers {
namespace {

/// The next core of a job.
struct NextCore {
  double gain = 0.0;
  std::int32_t cores = 0;  ///< that the job has
  std::size_t job = 0;

  /// Whether the other one is served first.
  bool operator<(const NextCore& other) const {
    return std::tuple(gain, -cores, other.job) < std::tuple(other.gain, -other.cores, job);
  }
};

/// Fewer cores than jobs.
std::vector<std::int32_t> single_cores(std::span<const QualityJob> jobs, std::int64_t cores) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t j) {
    return jobs[j].fit ? quality_gain(jobs[j], 0) : std::numeric_limits<double>::infinity();
  };
  std::vector<double> keys;
  for (const std::size_t j : order) keys.push_back(key(j));
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t j) { return keys[j]; });
  std::vector<std::int32_t> given(jobs.size(), 0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(cores); ++i) given[order[i]] = 1;
  return given;
}

/// One core for each job; an equal share for those without history.
std::vector<std::int32_t> first_cores(std::span<const QualityJob> jobs, std::int64_t cores) {
  const std::int64_t share = cores / static_cast<std::int64_t>(jobs.size());
  std::vector<std::int32_t> given(jobs.size(), 1);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (!jobs[j].fit)
      given[j] = static_cast<std::int32_t>(std::min<std::int64_t>(share, jobs[j].most));
  }
  return given;
}

/// 0: a loss that never changes earns nothing.
double inverse_of(double range) { return range > 0.0 ? 1.0 / range : 0.0; }

}  // namespace

QualityJob paper_quality_job(LossHistory& history, double iteration, double iterations_per_core) {
  QualityJob job{.fit = {}, .iteration = iteration, .iterations_per_core = iterations_per_core};
  if (history.size() < kLeastPoints) return job;
  job.fit = history.fit();
  job.scale = inverse_of(history.largest_change());
  return job;
}

QualityJob berth_quality_job(LossHistory& history, double iteration, double iterations_per_core) {
  QualityJob job{.fit = {}, .iteration = iteration, .iterations_per_core = iterations_per_core};
  if (history.size() < kLeastPoints) {
    job.fit = LossFit{.curve = {.family = speed::LossFamily::sublinear,
                                .a = 0.0,
                                .b = 1.0 / kNewJob,
                                .c = 1.0,
                                .d = 0.0},
                      .origin = 0.0,
                      .error = 0.0};
    return job;
  }
  job.fit = history.fit();
  job.scale = inverse_of(history.first_loss() - job.fit->curve.limit());
  return job;
}

double quality_gain(const QualityJob& job, std::int32_t cores) {
  const double before = job.iteration + job.iterations_per_core * cores;
  return job.scale * (job.fit->loss(before) - job.fit->loss(before + job.iterations_per_core));
}

std::vector<std::int32_t> divide_by_quality(std::span<const QualityJob> jobs, std::int64_t cores) {
  expect_option("slaq: cores", static_cast<double>(cores), at_least(0.0));
  if (jobs.empty()) return {};
  if (cores < static_cast<std::int64_t>(jobs.size())) return single_cores(jobs, cores);
  std::vector<std::int32_t> given = first_cores(jobs, cores);
  std::int64_t left = cores - std::accumulate(given.begin(), given.end(), std::int64_t{0});
  const auto next = [&](std::size_t j) {
    return NextCore{jobs[j].fit ? quality_gain(jobs[j], given[j]) : 0.0, given[j], j};
  };
  std::vector<NextCore> heap;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (given[j] < jobs[j].most) heap.push_back(next(j));
  }
  std::priority_queue<NextCore> queue(std::less<NextCore>{}, std::move(heap));
  while (left > 0 && !queue.empty()) {
    const std::size_t j = queue.top().job;
    queue.pop();
    ++given[j];
    --left;
    if (given[j] < jobs[j].most) queue.push(next(j));
  }
  return given;
}

std::vector<std::int32_t> divide_equally(std::span<const std::int32_t> most, std::int64_t cores) {
  expect_option("slaq: cores", static_cast<double>(cores), at_least(0.0));
  std::vector<std::int32_t> given(most.size(), 0);
  std::vector<std::size_t> open(most.size());
  std::iota(open.begin(), open.end(), std::size_t{0});
  std::ranges::stable_sort(open, std::less{}, [&](std::size_t j) { return most[j]; });
  auto jobs = static_cast<std::int64_t>(most.size());
  for (const std::size_t j : open) {
    const std::int64_t share = (cores + jobs - 1) / jobs;
    given[j] = static_cast<std::int32_t>(std::min<std::int64_t>(share, most[j]));
    cores -= given[j];
    --jobs;
  }
  return given;
}

}  // namespace berth::papers
