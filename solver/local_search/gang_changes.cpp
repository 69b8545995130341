// SPDX-License-Identifier: Apache-2.0
#include "local_search/gang_changes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "berth/planner_model/option_enumerator.hpp"

namespace berth::solver::local_search {

TypePrices::TypePrices(const PricedPools& pools) {
  std::map<GpuTypeId, std::pair<double, double>> sums;  // GPUs, and their price
  for (std::size_t p = 0; p < pools.prices.size(); ++p) {
    const planner_model::Pool& pool = pools.pools.pools[p];
    const double gpus = static_cast<double>(pool.gpu_milli) / model::kGpuMilli;
    sums[pool.gpu_type].first += gpus;
    sums[pool.gpu_type].second += gpus * pools.prices[p];
  }
  for (const auto& [type, sum] : sums) {
    if (sum.first > 0.0) price_[type] = sum.second / sum.first;
  }
}

double TypePrices::of(GpuTypeId type) const {
  const auto at = price_.find(type);
  return at == price_.end() ? 0.0 : at->second;
}

GpuTypeId type_of(const Occupancy& occupancy, JobId job) {
  const auto& tasks = occupancy.placed(job).tasks;
  const auto on_gpus = [](const model::TaskPlacement& t) { return t.devices != 0; };
  const model::Cluster& cluster = occupancy.valuation().instance().cluster;
  return cluster.class_of(std::ranges::find_if(tasks, on_gpus)->machine).gpu_type;
}

std::vector<GangChange> gang_changes(const Occupancy& occupancy,
                                     const planner_model::Valuation& priced,
                                     const TypePrices& prices, double most) {
  const model::WorkloadView& workload = occupancy.valuation().instance().workload;
  std::vector<GangChange> found;
  for (const JobEntry& entry : occupancy.entries()) {
    const JobId id = entry.job();
    const model::Job& job = workload.job(id);
    const std::int64_t milli = workload.gpu_milli(job);
    if (job.groups != 1 || workload.tasks(job) == 1 || milli == 0) continue;
    const bool placed = entry.is_placed();
    if (placed && job.required) continue;
    const double gpus = static_cast<double>(milli) / model::kGpuMilli;
    const GpuTypeId from = placed ? type_of(occupancy, id) : GpuTypeId{};
    const double profit = placed ? priced.placed(entry.placement) - prices.of(from) * gpus : 0.0;
    const auto add = [&](double other, GpuTypeId to) {
      if (profit - other < most) found.push_back({profit - other, id, to});
    };
    const planner_model::OptionEnumerator options(priced, id);
    for (const GpuTypeId to : options.types()) {
      if (to != from) add(options.best(to) - prices.of(to) * gpus, to);
    }
    if (placed) add(0.0, GpuTypeId{});
  }
  std::ranges::sort(found, {},
                    [](const GangChange& c) { return std::tuple(c.loss, c.gang, c.to); });
  return found;
}

}  // namespace berth::solver::local_search
