// SPDX-License-Identifier: Apache-2.0
#include "spare_reasons.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "berth/base/infinity.hpp"

namespace berth::pipeline {

SpareReason::SpareReason(const planner_model::Valuation& valuation,
                         const planner_model::CouplingLimits& limits,
                         std::span<const std::int64_t> use)
    : valuation_(&valuation) {
  if (limits.first_spare() == limits.size()) return;
  const model::Cluster& cluster = valuation.instance().cluster;
  types_.assign(cluster.gpu_types.size(), {.penalty = kInfinity});
  for (std::size_t l = limits.first_spare(); l < limits.size(); ++l) {
    OfType& of_type = types_[limits[l].scope.gpu_type.index()];
    of_type.left += std::max<std::int64_t>(0, limits.capacity(l) - use[l]);
    of_type.penalty = std::min(of_type.penalty, limits.penalty(l));
  }
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const GpuTypeId type = cluster.class_of(MachineId(m)).gpu_type;
    if (!type.valid() || cluster.spare_of(cluster.pod_of(MachineId(m)), type) != nullptr) continue;
    types_[type.index()].penalty = 0.0;
  }
}

std::string SpareReason::why(JobId id, std::uint64_t usable) const {
  const model::WorkloadView& workload = valuation_->instance().workload;
  const std::int64_t milli = workload.gpu_milli(workload.job(id));
  if (types_.empty() || milli == 0) return {};
  double most = 0.0;  // GPUs left of a type that the job may have
  for (std::size_t t = 0; t < types_.size(); ++t) {
    if (((usable >> t) & 1) == 0) continue;
    const double over = static_cast<double>(milli - types_[t].left) / model::kGpuMilli;
    if (over <= 0.0 || valuation_->best(id, GpuTypeId(t)) >= over * types_[t].penalty) return {};
    most = std::max(most, static_cast<double>(types_[t].left) / model::kGpuMilli);
  }
  return fmt::format("spare: {} GPUs are free beside spare ones, and the job is not worth more",
                     most);
}

}  // namespace berth::pipeline
