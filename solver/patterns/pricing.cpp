// SPDX-License-Identifier: Apache-2.0
#include "pricing.hpp"

#include "cpu_tasks.hpp"
#include "pricing_pass.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace berth::solver {
namespace {

// The pass looks for contents within delta of the bound. Both constants: chosen, not tuned.
constexpr int kFirstWidth = 11;  ///< first delta: bound / 2^11
constexpr Profit kWiden = 4;     ///< delta grows by this factor while no content is found

/// A machine of a bin type, and the items that may fill it.
struct PricedBin {
  std::size_t index;  ///< of the bin type
  const BinType& type;
  std::span<const PricingItem> items;
};

MachinePattern unfold(const PricedBin& bin, const PricingPass& pass, std::int32_t end,
                      const CpuTasks& filled) {
  MachinePattern p{
      .bin = static_cast<std::int32_t>(bin.index), .tasks = filled.tasks, .devices = {}};
  std::map<std::int32_t, std::int32_t> counts;
  for (std::int32_t l = end; pass.label(l).item >= 0; l = pass.label(l).parent) {
    const DevicePattern& c = pass.pattern(pass.label(l).item);
    DeviceShares device{.capacity = c.capacity, .shares = {}};
    for (const auto& [i, count] : c.items) {
      const std::int32_t type = bin.items[static_cast<std::size_t>(i)].type;
      counts[type] += count;
      device.shares.push_back({type, count});
    }
    if (c.capacity > 0 && !device.shares.empty()) p.devices.push_back(std::move(device));
  }
  for (const auto& [type, count] : counts) p.tasks.push_back({type, count});
  std::ranges::sort(p.tasks);
  return p;
}

/// Adds the best `wanted` contents above `threshold` of a pass to `priced.patterns`, and lowers
/// `priced.bound` if the pass was complete.
void collect_patterns(PricingResult& priced, const PricedBin& bin, const PricingPass& pass,
                      Profit threshold, int wanted) {
  const BinType& s = bin.type;
  const auto order = cpu_items(s, bin.items);
  std::vector<std::tuple<Profit, std::int32_t>> found;
  Profit most = threshold;
  for (const std::int32_t end : pass.ends()) {
    const Label& l = pass.label(end);
    Profit profit = l.profit;
    if (!order.empty()) {
      profit += fill_cpu(s, order, l).profit;
      most = std::max(most, l.profit + fill_bound(s, order, l));
    }
    most = std::max(most, profit);
    if (profit > threshold) found.emplace_back(-profit, end);
  }
  std::ranges::sort(found);
  if (found.size() > static_cast<std::size_t>(wanted))
    found.resize(static_cast<std::size_t>(wanted));
  for (const auto& [profit, end] : found) {
    const Label& l = pass.label(end);
    priced.patterns.push_back(unfold(bin, pass, end, fill_cpu(s, order, l)));
  }
  if (!pass.truncated()) priced.bound = std::min(priced.bound, most);
}

}  // namespace

PricingResult price_machine(const PackingProblem& problem, std::size_t bin,
                            std::span<const PricingItem> items, Profit threshold,
                            const PricingLimits& limits) {
  const BinType& s = problem.bins[bin];
  PricingResult priced;
  if (items.empty()) return priced;
  const MachineBound bound = best_bound(s, items);
  priced.bound = bound.bound;
  Profit lowest = threshold;
  if (limits.widest < from_profit(bound.bound)) {
    lowest = std::max(lowest, bound.bound - to_profit(limits.widest));
  }
  if (bound.bound <= lowest) return priced;
  std::size_t labels = limits.labels;
  for (Profit delta = std::max<Profit>(bound.bound >> kFirstWidth, 1);;) {
    const Profit above = std::max(lowest, bound.bound - delta);
    PricingPass pass(s, items, bound, above, labels);
    pass.run();
    priced.work += pass.work();
    collect_patterns(priced, {bin, s, items}, pass, above, limits.patterns);
    if (!priced.patterns.empty() || (above == lowest && !pass.truncated())) {
      priced.exact = !pass.truncated();
      return priced;
    }
    if (!pass.truncated()) {
      delta *= kWiden;
    } else if (labels < limits.last_labels) {
      labels = limits.last_labels;
    } else {
      priced.exact = false;
      return priced;
    }
  }
}

}  // namespace berth::solver
