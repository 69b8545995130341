// SPDX-License-Identifier: Apache-2.0
#include "configuration_pricing.hpp"

#include "../patterns/balanced_patterns.hpp"
#include "../patterns/initial_patterns.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "berth/parallel/loops.hpp"

namespace berth::solver {
namespace {

/// Copies of a bundle with GPUs in one machine, for the pricing: no limit but the machine.
constexpr std::int64_t kNoCap = 1 << 20;

Configuration configuration(const MachinePattern& pattern) {
  Configuration c{.bin = pattern.bin, .content = {}};
  for (const TypeCount& t : pattern.tasks) c.content.push_back({t.type, t.count});
  return c;
}

}  // namespace

ConfigurationPricing::ConfigurationPricing(std::span<const BinType> bins, const TaskRows& rows)
    : rows_(rows), nothing_(rows.bundles().size(), 0.0) {
  problem_.bins.assign(bins.begin(), bins.end());
  std::size_t slots = 1;
  for (const BinType& bin : bins) slots = std::max(slots, bin.slot + 1);
  for (std::size_t b = 0; b < rows.bundles().size(); ++b) {
    const TaskBundle& bundle = rows.bundles()[b];
    problem_.types.push_back({.shape_id = bundle.tasks.groups.front().shape,
                              .shape = bundle.total,
                              .value = std::vector<double>(slots, 0.0),
                              .jobs = {}});
    const std::int64_t copies = rows.copies(static_cast<std::int32_t>(b));
    copies_.push_back(bundle.total.uses_gpu() ? kNoCap : copies);
    residual_.demand.push_back(copies);
  }
  residual_.supply.assign(bins.size(), 1);
}

void ConfigurationPricing::set_prices(std::span<const double> price) {
  double largest = 0.0;
  for (JobType& type : problem_.types) std::ranges::fill(type.value, 0.0);
  for (std::size_t slot = 0; slot < problem_.types.front().value.size(); ++slot) {
    for (const std::int32_t b : rows_.bundles_on(slot)) {
      double& value = problem_.types[static_cast<std::size_t>(b)].value[slot];
      for (const auto& [row, count] : rows_.content(b, slot)) {
        if (row >= 0) value += count * price[static_cast<std::size_t>(row)];
      }
      largest = std::max(largest, value);
    }
  }
  problem_.unit = largest > 0.0 ? largest : 1.0;
  for (JobType& type : problem_.types) {
    for (double& value : type.value) value /= problem_.unit;
  }
}

std::vector<PricingItem> ConfigurationPricing::items_of(std::size_t bin) const {
  return pricing_items(problem_, bin, nothing_, copies_);
}

ConfigurationPricing::Result ConfigurationPricing::operator()(std::span<const double> price,
                                                              std::span<const double> threshold,
                                                              const PricingLimits& limits) {
  Result result;
  result.earned.assign(problem_.bins.size(), 0.0);
  if (problem_.types.empty()) return result;
  set_prices(price);
  std::vector<PricingResult> priced(problem_.bins.size());
  parallel::run_tasks(priced.size(), [&](std::size_t bin) {
    const Profit least = to_profit(std::max(threshold[bin], 0.0) / problem_.unit);
    priced[bin] = price_machine(problem_, bin, items_of(bin), least, limits);
  });
  for (std::size_t bin = 0; bin < priced.size(); ++bin) {
    result.earned[bin] = from_profit(priced[bin].bound) * problem_.unit;
    result.work += priced[bin].work;
    for (const MachinePattern& pattern : priced[bin].patterns) {
      result.found.push_back(configuration(pattern));
    }
  }
  return result;
}

std::vector<std::array<double, model::kResources>> ConfigurationPricing::multipliers(
    std::span<const double> price) {
  std::vector<std::array<double, model::kResources>> result(problem_.bins.size());
  if (problem_.types.empty()) return result;
  set_prices(price);
  parallel::run_tasks(result.size(), [&](std::size_t bin) {
    const auto items = items_of(bin);
    if (items.empty()) return;
    const Multipliers m = best_bound(problem_.bins[bin], items).multipliers;
    for (std::size_t r = 0; r < model::kResources; ++r) {
      result[bin][r] = from_profit(m[r]) * problem_.unit;
    }
  });
  return result;
}

std::vector<Configuration> ConfigurationPricing::uniform(std::size_t most) const {
  std::vector<Configuration> found;
  for (std::size_t bin = 0; bin < problem_.bins.size(); ++bin) {
    std::vector<std::int32_t> order(rows_.bundles_on(problem_.bins[bin].slot).begin(),
                                    rows_.bundles_on(problem_.bins[bin].slot).end());
    std::ranges::stable_sort(order, std::greater{}, [&](std::int32_t b) {
      return problem_.types[static_cast<std::size_t>(b)].shape.total_milli();
    });
    for (std::size_t first = 0; first < order.size() && found.size() < most; ++first) {
      std::vector<std::int32_t> turn = order;
      std::rotate(turn.begin(), turn.begin() + static_cast<std::ptrdiff_t>(first), turn.end());
      MachinePattern pattern = fill_machine(problem_, bin, residual_, turn);
      if (!pattern.tasks.empty()) found.push_back(configuration(pattern));
    }
  }
  return found;
}

std::vector<Configuration> ConfigurationPricing::balanced(std::vector<std::int64_t> bundles,
                                                          std::size_t slot) const {
  ResidualProblem open{.demand = std::move(bundles), .supply = {}};
  for (const BinType& bin : problem_.bins) {
    open.supply.push_back(bin.slot == slot ? std::ssize(bin.machines) : 0);
  }
  std::vector<Configuration> found;
  for (const PatternUse& used : balanced_patterns(problem_, std::move(open))) {
    found.push_back(configuration(used.pattern));
    found.back().machines = static_cast<double>(used.copies);
  }
  return found;
}

}  // namespace berth::solver
