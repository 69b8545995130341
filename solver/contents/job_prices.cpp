// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/job_prices.hpp"

#include "dual.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "berth/base/assert.hpp"

namespace berth::solver {
namespace {

constexpr double kFarthest = 0.01;  ///< of the bound: a target out of reach makes steps too long

/// Steps against the subgradient 1 - (times chosen), with memory of the last direction.
class Descent {
 public:
  Descent(std::span<const double> start, const JobPriceOptions& options)
      : options_(&options),
        prices_(start.begin(), start.end()),
        direction_(start.size(), 0.0),
        step_(options.step) {}

  [[nodiscard]] std::span<const double> prices() const { return prices_; }

  void shrink_when_stuck(bool better) {
    stuck_ = better ? 0 : stuck_ + 1;
    if (stuck_ <= options_->patience) return;
    step_ *= options_->shrink;
    stuck_ = 0;
  }

  /// False when there is no direction left to go.
  bool move(std::span<const std::int32_t> chosen, double above) {
    double square = 0.0;
    for (std::size_t j = 0; j < prices_.size(); ++j) {
      double& d = direction_[j];
      double gradient = 1.0 - chosen[j];
      if (prices_[j] <= 0.0) gradient = std::min(gradient, 0.0);
      d = gradient + options_->memory * d;
      if (prices_[j] <= 0.0) d = std::min(d, 0.0);
      square += d * d;
    }
    if (!(square > 0.0)) return false;
    const double length = step_ * above / square;
    for (std::size_t j = 0; j < prices_.size(); ++j) {
      prices_[j] = std::max(0.0, prices_[j] - length * direction_[j]);
    }
    return true;
  }

 private:
  const JobPriceOptions* options_;
  std::vector<double> prices_, direction_;
  double step_;
  int stuck_ = 0;
};

}  // namespace

std::vector<JobId> countable_jobs(const model::Instance& instance) {
  std::vector<JobId> jobs;
  for (std::size_t j = 0; j < instance.workload.jobs.size(); ++j) {
    if (instance.workload.pinned(instance.workload.jobs[j])) continue;
    bool whole = true, takes_gpu = false;
    for (const model::TaskGroup& g : instance.workload.groups_of(instance.workload.jobs[j])) {
      const model::Shape& s = instance.workload.shape(g.shape);
      whole = whole && s.gpu_milli == 0;
      takes_gpu = takes_gpu || s.gpus > 0;
    }
    if (whole && takes_gpu) jobs.emplace_back(j);
  }
  return jobs;
}

JobPriceResult price_jobs(const model::Valuation& valuation, std::span<const JobId> jobs,
                          std::span<const double> start, std::span<const double> fluid,
                          double slack, const JobPriceOptions& options) {
  BERTH_EXPECT(jobs.size() == start.size() && slack > 0.0);
  contents::Dual dual(valuation, jobs, fluid);
  std::vector<std::int32_t> chosen(jobs.size());
  Descent descent(start, options);
  JobPriceResult result;
  while (result.evaluations < std::max(1, options.evaluations)) {
    const double value = dual.evaluate(descent.prices(), chosen);
    const bool first = result.evaluations++ == 0;
    if (first) result.start = value;
    const bool better = first || value < result.bound - 1e-7 * std::abs(result.bound);
    if (first || value < result.bound) {
      result.bound = value;
      result.prices.assign(descent.prices().begin(), descent.prices().end());
    }
    const double goal = result.start - slack;
    const double target = std::max(goal, result.bound - kFarthest * std::abs(result.bound));
    descent.shrink_when_stuck(better);
    if (value <= goal || options.stop.requested()) break;
    if (!descent.move(chosen, value - target)) break;
  }
  return result;
}

}  // namespace berth::solver
