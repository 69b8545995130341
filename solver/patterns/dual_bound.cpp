// SPDX-License-Identifier: Apache-2.0
#include "dual_bound.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "berth/base/infinity.hpp"

namespace berth::solver {
std::vector<std::size_t> slots_that_fit(const PackingProblem& problem, const JobType& type) {
  std::vector<std::size_t> slots;
  for (const BinType& s : problem.bins) {
    if (fits(type, s)) slots.push_back(s.slot);
  }
  std::ranges::sort(slots);
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  return slots;
}

ScaledPrices scaled_prices(const PackingProblem& problem, std::span<const double> type_price) {
  ScaledPrices prices;
  for (std::size_t t = 0; t < problem.types.size(); ++t) {
    const JobType& type = problem.types[t];
    for (const std::size_t slot : slots_that_fit(problem, type)) {
      double& price = prices[{type.shape_id, slot}];
      price = std::max(price, type.value[slot] - type_price[t]);
    }
  }
  return prices;
}

std::vector<TaskPrice> task_prices(const PackingProblem& problem,
                                   std::span<const double> type_price) {
  std::vector<TaskPrice> list;
  for (const auto& [key, price] : scaled_prices(problem, type_price)) {
    const auto& [shape, slot] = key;
    if (price <= 0.0) continue;
    list.push_back({shape, slot == 0 ? GpuTypeId{} : GpuTypeId(slot - 1), price * problem.unit});
  }
  return list;
}

std::vector<double> gpu_worth(const PackingProblem& problem, std::span<const double> bin_earnings,
                              std::size_t types) {
  std::vector<double> worth(types, kInfinity);
  for (std::size_t s = 0; s < bin_earnings.size(); ++s) {
    const BinType& bin = problem.bins[s];
    if (bin.slot == 0 || bin.whole == 0 || !bin.partial.empty()) continue;
    double& least = worth[bin.slot - 1];
    least = std::min(least, bin_earnings[s] * problem.unit / bin.whole);
  }
  return worth;
}

double clearing_bound(const PackingProblem& problem, const planner_model::Valuation& valuation) {
  double bound = 0.0;
  for (const BinType& bin : problem.bins) {
    bound += problem.clearing * static_cast<double>(bin.milli() * std::ssize(bin.machines));
  }
  for (const JobType& type : problem.types) {
    const double cost = problem.clearing * static_cast<double>(type.shape.total_milli());
    const auto slots = slots_that_fit(problem, type);
    for (const JobId job : type.jobs) {
      double kept = 0.0;
      for (const std::size_t slot : slots) {
        const GpuTypeId gpu = type.shape.uses_gpu() ? type_of_slot(slot) : GpuTypeId{};
        kept = std::max(kept, task_value(valuation, job, type.shape_id, gpu) / problem.unit - cost);
      }
      bound += kept;
    }
  }
  return bound * problem.unit;
}

std::vector<TaskPrice> clearing_prices(const PackingProblem& problem) {
  std::map<std::pair<ShapeId, std::size_t>, double> priced;
  for (const JobType& type : problem.types) {
    if (problem.clearing <= 0.0 || !type.shape.uses_gpu()) continue;
    const auto milli = static_cast<double>(type.shape.total_milli());
    for (const std::size_t slot : slots_that_fit(problem, type)) {
      priced[{type.shape_id, slot}] = milli * problem.clearing * problem.unit;
    }
  }
  std::vector<TaskPrice> list;
  for (const auto& [key, price] : priced) {
    list.push_back({key.first, type_of_slot(key.second), price});
  }
  return list;
}

double lagrangian_bound(const PackingProblem& problem, const Relaxation& relaxation,
                        const Occupancy& occupancy) {
  const ScaledPrices prices = scaled_prices(problem, relaxation.price);
  double bound = relaxation.machines_bound;
  for (const JobType& type : problem.types) {
    const auto slots = slots_that_fit(problem, type);
    for (const JobId job : type.jobs) {
      const bool must = type.reward > 0.0 && occupancy.is_placed(job);
      double kept = must ? -1e300 : 0.0;
      for (const std::size_t slot : slots) {
        const bool on_gpus = type.shape.uses_gpu();
        const GpuTypeId gpu = on_gpus ? GpuTypeId(slot - 1) : GpuTypeId{};
        kept = std::max(kept,
                        task_value(occupancy.valuation(), job, type.shape_id, gpu) / problem.unit -
                            prices.at({type.shape_id, slot}));
      }
      bound += kept;
    }
  }
  return bound * problem.unit;
}

}  // namespace berth::solver
