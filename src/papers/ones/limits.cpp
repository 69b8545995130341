// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "berth/base/option_range.hpp"
#include "berth/papers/ones.hpp"

namespace berth::papers {

OnesLimits::OnesLimits(std::vector<ElasticJob> jobs, std::int32_t gpus, double sigma)
    : jobs_(std::move(jobs)), gpus_(gpus), sigma_(sigma), limits_(jobs_.size(), 1) {}

void OnesLimits::grow(JobId job, std::int32_t held) {
  std::int32_t& limit = limits_[job.index()];
  if (held == limit) limit = std::min({gpus_, jobs_[job.index()].largest(), 2 * limit});
}

void OnesLimits::shrink(JobId job, std::int32_t held, double run_over_median) {
  if (2 * held < gpus_ || run_over_median <= 1.0) return;
  const double x = std::max(1.0, std::floor(2.0 * held / (sigma_ * run_over_median + 1.0)));
  const auto limit = 2 * static_cast<std::int32_t>(std::ceil(x / 2.0));
  limits_[job.index()] = std::min({limit, gpus_, jobs_[job.index()].largest()});
}

void OnesLimits::halve(JobId job) {
  std::int32_t& limit = limits_[job.index()];
  limit = std::max(1, limit / 2);
}

std::vector<TrainingJob> default_training(const PaperWorld& world, double epoch_seconds) {
  expect_option("ones: epoch_seconds", epoch_seconds, above(0.0));
  std::vector<TrainingJob> training(world.instance.workload.size());
  for (std::size_t j = 0; j < training.size() && j < world.profiles.goodputs.size(); ++j) {
    const speed::ElasticBatchJob& profile = world.profiles.goodputs[j];
    if (profile.reference <= 0.0) continue;
    training[j].epoch_samples = std::max(1.0, profile.reference * epoch_seconds);
    training[j].base_batch = std::max<std::int64_t>(1, std::llround(profile.smallest_batch));
  }
  return training;
}

}  // namespace berth::papers
