// SPDX-License-Identifier: Apache-2.0
#include "pareto_knapsack.hpp"

#include <algorithm>

namespace berth::solver {

ParetoKnapsack::ParetoKnapsack(std::vector<Label>& arena, std::span<const Profit> rest,
                               const Limits& limits)
    : arena_(arena), rest_(rest), limits_(limits), list_(rest.size()) {}

void ParetoKnapsack::start(std::span<const std::int32_t> labels) {
  for (const std::int32_t l : labels) {
    const Label& label = arena_[static_cast<std::size_t>(l)];
    list_[0].push_back({label.reduced, label.profit, label.cpu, label.memory, l, false});
  }
}

void ParetoKnapsack::add(const KnapsackItem& item, const Admits& admits) {
  for (std::size_t size = static_cast<std::size_t>(item.size); size <= capacity(); ++size) {
    collect(item, size, admits);
    if (!candidates_.empty()) merge(size);
  }
}

/// Contents of this size that end with the item; best reduced first, as their parents are.
void ParetoKnapsack::collect(const KnapsackItem& item, std::size_t size, const Admits& admits) {
  candidates_.clear();
  const Profit needed = limits_.floor - rest_[capacity() - size] - item.reduced;
  for (const Entry& e : list_[size - static_cast<std::size_t>(item.size)]) {
    if (e.reduced <= needed) break;
    if (e.cpu + item.cpu > limits_.cpu || e.memory + item.memory > limits_.memory) continue;
    const Label& from = arena_[static_cast<std::size_t>(e.label)];
    const std::int32_t copies = from.item == item.id ? from.copies + 1 : 1;
    if (copies > item.cap || (admits && !admits(from, item.id))) continue;
    candidates_.push_back({e.profit + item.profit, e.reduced + item.reduced, e.cpu + item.cpu,
                           e.memory + item.memory, e.label, item.id, copies});
  }
}

/// A label is beaten only by one of no smaller reduced profit, so one pass in that order does it.
void ParetoKnapsack::merge(std::size_t size) {
  std::vector<Entry>& old = list_[size];
  merged_.clear();
  const auto beaten = [&](const Entry& e) {
    return std::ranges::any_of(merged_, [&](const Entry& by) {
      return (by.fresh || e.fresh) && by.profit >= e.profit && by.cpu <= e.cpu &&
             by.memory <= e.memory;
    });
  };
  std::size_t o = 0;
  std::size_t c = 0;
  while (o < old.size() || c < candidates_.size()) {
    const bool take_old =
        c == candidates_.size() || (o < old.size() && old[o].reduced >= candidates_[c].reduced);
    Entry e = take_old ? old[o++] : Entry{candidates_[c].reduced,       candidates_[c].profit,
                                          candidates_[c].cpu,           candidates_[c].memory,
                                          static_cast<std::int32_t>(c), true};
    if (!take_old) ++c;
    if (beaten(e)) continue;
    if (merged_.size() == limits_.labels) {
      truncated_ = true;
      break;
    }
    merged_.push_back(e);
  }
  for (Entry& e : merged_) {
    if (!e.fresh) continue;
    e.fresh = false;
    arena_.push_back(candidates_[static_cast<std::size_t>(e.label)]);
    e.label = static_cast<std::int32_t>(arena_.size()) - 1;
  }
  old.swap(merged_);
}

std::vector<std::int32_t> ParetoKnapsack::labels(std::size_t size) const {
  std::vector<std::int32_t> found;
  for (const Entry& e : list_[size]) found.push_back(e.label);
  return found;
}

}  // namespace berth::solver
