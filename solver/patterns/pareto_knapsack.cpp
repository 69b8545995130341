// SPDX-License-Identifier: Apache-2.0
#include "pareto_knapsack.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

namespace berth::solver {

ParetoKnapsack::ParetoKnapsack(std::vector<Label>& arena, std::span<const Profit> rest,
                               const LabelLimits& limits)
    : arena_(arena), rest_(rest), limits_(limits), list_(rest.size()) {}

void ParetoKnapsack::start(std::span<const std::int32_t> labels) {
  for (const std::int32_t l : labels) {
    const Label& label = arena_[static_cast<std::size_t>(l)];
    list_[0].push_back({label.reduced, label.profit, label.used, l, false});
    frontier_.count(label.used);
  }
}

void ParetoKnapsack::add(const ParetoItem& item, const Admits& admits) {
  frontier_.count(item.needs);
  for (std::size_t size = static_cast<std::size_t>(item.size); size <= capacity(); ++size) {
    collect(item, size, admits);
    if (!candidates_.empty()) merge(size);
  }
}

/// Contents of this size whose last item is `item`, by descending profit, the order of their
/// parents.
void ParetoKnapsack::collect(const ParetoItem& item, std::size_t size, const Admits& admits) {
  candidates_.clear();
  const Profit needed = limits_.floor - rest_[capacity() - size] - item.reduced;
  model::Resources room = limits_.room;
  for (std::size_t r = 0; r < model::kResources; ++r) room[r] -= item.needs[r];
  for (const FrontierEntry& e : list_[size - static_cast<std::size_t>(item.size)]) {
    if (e.reduced <= needed || !e.used.within(room)) continue;
    const Label& from = arena_[static_cast<std::size_t>(e.label)];
    const std::int32_t copies = from.item == item.id ? from.copies + 1 : 1;
    if (copies > item.cap || (admits && !admits(from, item.id))) continue;
    candidates_.push_back({e.profit + item.profit, e.reduced + item.reduced, e.used + item.needs,
                           e.label, item.id, copies});
  }
}

namespace {

std::int64_t first(const model::Resources& used) { return used[0]; }

}  // namespace

void ParetoKnapsack::ParetoFrontier::count(const model::Resources& needs) {
  for (std::size_t r = counted_; r < model::kResources; ++r) {
    if (needs[r] > 0) counted_ = r + 1;
  }
}

bool ParetoKnapsack::ParetoFrontier::within(const model::Resources& a,
                                            const model::Resources& b) const {
  for (std::size_t r = 0; r < counted_; ++r) {
    if (a[r] > b[r]) return false;
  }
  return true;
}

bool ParetoKnapsack::ParetoFrontier::insert(const model::Resources& used) {
  if (counted_ > kOrdered) {
    if (std::ranges::any_of(points_, [&](const auto& point) { return within(point, used); })) {
      return false;
    }
    std::erase_if(points_, [&](const auto& point) { return within(used, point); });
    points_.push_back(used);
    return true;
  }
  const auto above = std::ranges::upper_bound(points_, used[0], {}, first);
  auto from = above;
  if (above != points_.begin()) {
    const auto last = std::prev(above);
    if ((*last)[1] <= used[1]) return false;
    if ((*last)[0] == used[0]) from = last;
  }
  auto to = above;
  while (to != points_.end() && (*to)[1] >= used[1]) ++to;
  if (from == to) {
    points_.insert(from, used);
  } else {
    *from = used;
    points_.erase(std::next(from), to);
  }
  return true;
}

/// Merges the candidates into the labels of this size and drops dominated ones. Labels are visited
/// by descending profit, so a label is dominated exactly if an earlier one uses no more of every
/// resource.
void ParetoKnapsack::merge(std::size_t size) {
  std::vector<FrontierEntry>& old = list_[size];
  work_ += std::ssize(old) + std::ssize(candidates_);
  merged_.clear();
  frontier_.clear();
  std::size_t o = 0;
  std::size_t c = 0;
  while (o < old.size() || c < candidates_.size()) {
    const bool take_old =
        c == candidates_.size() || (o < old.size() && old[o].profit >= candidates_[c].profit);
    if (take_old) {
      if (frontier_.insert(old[o].used)) merged_.push_back(old[o]);
      ++o;
    } else {
      const Label& e = candidates_[c];
      if (frontier_.insert(e.used)) {
        merged_.push_back({e.reduced, e.profit, e.used, static_cast<std::int32_t>(c), true});
      }
      ++c;
    }
  }
  if (merged_.size() > limits_.labels) keep_best_reduced();
  for (FrontierEntry& e : merged_) {
    if (!e.fresh) continue;
    e.fresh = false;
    arena_.push_back(candidates_[static_cast<std::size_t>(e.label)]);
    e.label = static_cast<std::int32_t>(arena_.size()) - 1;
  }
  old.swap(merged_);
}

void ParetoKnapsack::keep_best_reduced() {
  truncated_ = true;
  std::vector<Profit> reduced;
  for (const FrontierEntry& e : merged_) reduced.push_back(e.reduced);
  const auto last = reduced.begin() + static_cast<std::ptrdiff_t>(limits_.labels) - 1;
  std::ranges::nth_element(reduced, last, std::greater{});
  const Profit least = *last;
  std::size_t equal = limits_.labels;  // labels with reduced == least that stay: the first ones
  for (const FrontierEntry& e : merged_) equal -= e.reduced > least ? 1 : 0;
  std::erase_if(merged_, [&](const FrontierEntry& e) {
    if (e.reduced != least) return e.reduced < least;
    if (equal == 0) return true;
    --equal;
    return false;
  });
}

std::vector<std::int32_t> ParetoKnapsack::labels(std::size_t size) const {
  std::vector<std::int32_t> found;
  for (const FrontierEntry& e : list_[size]) found.push_back(e.label);
  return found;
}

}  // namespace berth::solver
