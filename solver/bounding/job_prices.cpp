// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/job_prices.hpp"

#include "job_price_dual.hpp"
#include "subgradient.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "berth/base/assert.hpp"

namespace berth::solver {

std::vector<JobId> whole_gpu_jobs(const model::InstanceView& instance) {
  std::vector<JobId> jobs;
  for (const JobId id : model::planned_jobs(instance.workload)) {
    bool whole = true, takes_gpu = false;
    for (const model::TaskGroup& g : instance.workload.groups_of(instance.workload.job(id))) {
      const model::Shape& s = instance.workload.shape(g.shape);
      whole = whole && s.gpu_milli == 0;
      takes_gpu = takes_gpu || s.gpus > 0;
    }
    if (whole && takes_gpu) jobs.push_back(id);
  }
  return jobs;
}

std::int32_t common_divisor(const model::WorkloadView& workload, std::span<const JobId> jobs) {
  std::int64_t unit = 0;
  for (const JobId job : jobs) {
    unit = std::gcd(unit, workload.gpu_milli(workload.job(job)) / model::kGpuMilli);
  }
  return static_cast<std::int32_t>(std::max<std::int64_t>(1, unit));
}

JobPriceResult minimise_job_prices(const planner_model::Valuation& valuation,
                                   std::span<const JobId> jobs, std::span<const double> start,
                                   std::span<const double> rack_prices, const BoundTarget& target,
                                   const JobPriceOptions& options) {
  BERTH_EXPECT(jobs.size() == start.size() && target.slack > 0.0);
  bounding::JobPriceDual dual(valuation, jobs, rack_prices);
  std::vector<std::int32_t> chosen(jobs.size());
  const std::vector<bounding::PriceSign> signs(jobs.size(), bounding::PriceSign::positive);
  bounding::SubgradientMethod subgradient(start, signs, dual.table().size, options);
  JobPriceResult result;
  while (result.evaluations < std::max(1, options.evaluations) &&
         dual.cells() < options.most_cells) {
    std::ranges::fill(chosen, 0);
    const auto count = [&](std::uint32_t job, std::uint32_t) { ++chosen[job]; };
    const double value = dual.evaluate(subgradient.prices(), count);
    const bool first = result.evaluations++ == 0;
    if (first) result.start = value;
    const bool better =
        first || value < result.bound - bounding::kLeastRelativeGain * std::abs(result.bound);
    if (first || value < result.bound) {
      result.bound = value;
      result.prices.assign(subgradient.prices().begin(), subgradient.prices().end());
    }
    const double goal = result.start - target.slack;
    const double aim =
        std::max(goal, result.bound - bounding::kMaxTargetGap * std::abs(result.bound));
    subgradient.shrink_when_stalled(better);
    if (value <= goal || target.stop.requested()) break;
    if (!subgradient.take_step(chosen, value - aim)) break;
  }
  return result;
}

}  // namespace berth::solver
