// SPDX-License-Identifier: Apache-2.0
#include "berth/planner_model/fragmentation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "berth/base/infinity.hpp"

namespace berth::planner_model {
namespace {

using PerGpu = std::array<double, model::kResources>;

/// The least of each resource that a machine class with GPUs has for a GPU thousandth.
PerGpu least_per_gpu(const model::Cluster& cluster) {
  PerGpu least;
  least.fill(kInfinity);
  for (const model::MachineClass& c : cluster.classes) {
    if (c.gpus == 0) continue;
    const auto milli = static_cast<double>(c.gpus * model::kGpuMilli);
    for (std::size_t r = 0; r < least.size(); ++r) {
      if (c.capacity[r] == model::kNoLimit) continue;
      least[r] = std::min(least[r], static_cast<double>(c.capacity[r]) / milli);
    }
  }
  return least;
}

PerGpu needs_per_gpu(const model::Shape& shape) {
  PerGpu needs{};
  for (std::size_t r = 0; r < needs.size(); ++r) {
    needs[r] = static_cast<double>(shape.needs[r]) / static_cast<double>(shape.total_milli());
  }
  return needs;
}

/// The largest need as a part of what machines have.
double scarcest(const PerGpu& needs, const PerGpu& least) {
  double most = 0.0;
  for (std::size_t r = 0; r < needs.size(); ++r) {
    if (needs[r] > 0.0 && least[r] < kInfinity) most = std::max(most, needs[r] / least[r]);
  }
  return most;
}

}  // namespace

Fragmentation::Fragmentation(const model::InstanceView& instance) {
  const PerGpu least = least_per_gpu(instance.cluster);
  std::vector<std::pair<double, PerGpu>> kinds;
  for (const model::Shape& shape : instance.workload.tables().shapes) {
    if (!shape.uses_gpu()) continue;
    const PerGpu needs = needs_per_gpu(shape);
    kinds.emplace_back(scarcest(needs, least), needs);
  }
  std::ranges::sort(kinds);
  if (kinds.empty() || kinds.back().first <= 1.0) return;
  some_ = true;
  for (std::size_t k = 0; k < kKinds; ++k) {
    const PerGpu& needs = kinds[(2 * k + 1) * kinds.size() / (2 * kKinds)].second;
    for (std::size_t r = 0; r < needs.size(); ++r) {
      served_[r][k] = needs[r] > 0.0 ? 1.0 / needs[r] : kInfinity;
    }
  }
}

double Fragmentation::of(double gpu_milli,
                         const std::array<double, model::kResources>& free) const {
  std::array<double, kKinds> usable;
  usable.fill(gpu_milli);
  for (std::size_t r = 0; r < free.size(); ++r) {
    if (free[r] < 0.0) continue;
    for (std::size_t k = 0; k < kKinds; ++k) {
      // nothing free of what a kind does not need: 0 x infinity compares as not less
      const double here = free[r] * served_[r][k];
      usable[k] = here < usable[k] ? here : usable[k];
    }
  }
  double sum = 0.0;
  for (const double here : usable) sum += gpu_milli - here;
  return sum / kKinds;
}

std::int64_t Fragmentation::growth(const model::FreeMachine& free,
                                   const model::Shape& shape) const {
  std::array<double, model::kResources> before, after;  // negative: without a limit
  for (std::size_t r = 0; r < before.size(); ++r) {
    const std::int64_t all = free.resources()[r];
    const bool limited = all != model::kNoLimit;
    before[r] = limited ? static_cast<double>(all) : -1.0;
    after[r] = limited ? static_cast<double>(all - shape.needs[r]) : -1.0;
  }
  const auto milli = static_cast<double>(free.milli());
  const auto left = static_cast<double>(free.milli() - shape.total_milli());
  return std::llround(of(left, after) - of(milli, before));
}

}  // namespace berth::planner_model
