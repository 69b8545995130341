// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/sjf_bco/sjf_bco.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "berth/base/option_range.hpp"
#include "berth/base/random.hpp"

namespace berth::papers {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

/// Starts jobs in order, each as soon as choose(clock, job) gives GPUs.
template <class Choose>
RingSchedule run_in_order(BatchClock clock, std::span<const std::size_t> order,
                          const Choose& choose) {
  for (const std::size_t job : order) {
    std::vector<std::uint32_t> gpus = choose(clock, job);
    while (gpus.empty() && clock.advance()) gpus = choose(clock, job);
    if (gpus.empty()) break;
    clock.start(job, gpus);
  }
  // What started ends, so that an incomplete schedule has a makespan too.
  while (clock.advance()) {
  }
  RingSchedule made = clock.schedule();
  made.complete =
      std::ranges::all_of(order, [&](std::size_t job) { return made.runs[job].end >= 0; });
  return made;
}

/// The makespan by which a schedule is judged.
std::int64_t judged(const RingSchedule& schedule, const SjfBcoOptions& options) {
  if (schedule.complete || options.accept_incomplete) return schedule.makespan;
  return kNone;
}

/// Thresholds that split the jobs differently.
std::vector<std::int32_t> thresholds(const RingBatch& batch, std::span<const std::size_t> order) {
  std::vector<std::int32_t> sizes = {1};
  for (const std::size_t job : order) sizes.push_back(batch.jobs[job].gpus);
  std::ranges::sort(sizes);
  const auto equal = std::ranges::unique(sizes);
  sizes.erase(equal.begin(), equal.end());
  return sizes;
}

void check(const RingBatch& batch, const SjfBcoOptions& options) {
  expect_option("sjf-bco: horizon", static_cast<double>(options.horizon), at_least(1.0));
  expect_option("sjf-bco: spread", options.spread, at_least(1.0));
  expect_option("sjf-bco: overestimate", options.overestimate, at_least(1.0));
  expect_option("sjf-bco: kappa", options.kappa, at_least(0.0));
  const auto gpus = static_cast<double>(batch.gpus());
  for (std::size_t j = 0; j < batch.jobs.size(); ++j) {
    const RingBatchJob& job = batch.jobs[j];
    const std::string name = "sjf-bco: jobs[" + std::to_string(j) + "].";
    expect_option(name + "gpus", job.gpus, {.least = 1.0, .most = gpus});
    expect_option(name + "iterations", static_cast<double>(job.iterations), at_least(1.0));
    expect_option(name + "estimate", job.estimate, above(0.0));
  }
}

/// The best of a bisection over some thresholds.
LimitChoice bisect(const BatchClock& clock, std::span<const std::size_t> order,
                   std::span<const std::int32_t> kappas, const SjfBcoOptions& options) {
  check(clock.batch(), options);
  LimitChoice best{.schedule = {.runs = std::vector<RingRun>(clock.batch().jobs.size())}};
  std::int64_t makespan = kNone;
  std::int64_t left = 1;
  std::int64_t right = options.horizon;
  while (left <= right) {
    const std::int64_t middle = (left + right) / 2;
    bool better = false;
    for (const std::int32_t kappa : kappas) {
      const auto limit = static_cast<double>(middle);
      RingSchedule met = run_at_limit(clock, order, limit, kappa, options);
      if (judged(met, options) >= makespan) continue;
      makespan = judged(met, options);
      best = {.limit = limit, .kappa = kappa, .schedule = std::move(met)};
      better = true;
    }
    if (better) {
      right = middle - 1;
    } else {
      left = middle + 1;
    }
  }
  return best;
}

/// One rule for jobs of all sizes, with the search of the limit.
RingSchedule baseline(const RingBatch& batch, std::span<const std::size_t> order,
                      SjfBcoOptions options, GpuOrder gpus) {
  options.order = gpus;
  const std::int32_t all = std::numeric_limits<std::int32_t>::max();
  return bisect(BatchClock(batch), order, std::span(&all, 1), options).schedule;
}

}  // namespace

std::vector<std::size_t> smallest_first(const RingBatch& batch) {
  std::vector<std::size_t> order(batch.jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t j) {
    return std::tuple(batch.jobs[j].gpus, batch.jobs[j].estimate);
  });
  return order;
}

RingSchedule run_at_limit(BatchClock clock, std::span<const std::size_t> order, double limit,
                          std::int32_t kappa, const SjfBcoOptions& options) {
  return run_in_order(std::move(clock), order, [&](const BatchClock& now, std::size_t job) {
    return now.batch().jobs[job].gpus <= kappa ? fragment_aware_gpus(now, job, limit, options)
                                               : least_busy_gpus(now, job, limit, options);
  });
}

LimitChoice best_limit(const BatchClock& clock, std::span<const std::size_t> order,
                       const SjfBcoOptions& options) {
  if (options.kappa > 0) return bisect(clock, order, std::span(&options.kappa, 1), options);
  return bisect(clock, order, thresholds(clock.batch(), order), options);
}

RingSchedule sjf_bco(const RingBatch& batch, const SjfBcoOptions& options) {
  return best_limit(BatchClock(batch), smallest_first(batch), options).schedule;
}

RingSchedule first_fit(const RingBatch& batch, std::span<const std::size_t> order,
                       const SjfBcoOptions& options) {
  return baseline(batch, order, options, GpuOrder::first_fit);
}

RingSchedule list_scheduling(const RingBatch& batch, std::span<const std::size_t> order,
                             const SjfBcoOptions& options) {
  return baseline(batch, order, options, GpuOrder::literal);
}

RingSchedule random_gpus(const RingBatch& batch, std::span<const std::size_t> order,
                         std::uint64_t seed) {
  check(batch, {});
  return run_in_order(BatchClock(batch), order, [&](const BatchClock& clock, std::size_t job) {
    std::vector<std::uint32_t> gpus;
    for (std::size_t g = 0; g < clock.gpus().size(); ++g) {
      if (clock.gpus()[g].idle) gpus.push_back(static_cast<std::uint32_t>(g));
    }
    const auto wanted = static_cast<std::size_t>(batch.jobs[job].gpus);
    if (gpus.size() < wanted) return std::vector<std::uint32_t>{};
    std::ranges::sort(gpus, {}, [&](std::uint32_t g) { return random_bits({seed, job, g}); });
    gpus.resize(wanted);
    return gpus;
  });
}

}  // namespace berth::papers
