// SPDX-License-Identifier: Apache-2.0
#include "bounding/knapsack_tables.hpp"

#include <algorithm>

namespace berth::solver::bounding {
namespace {

/// best[i] = max over k of before[i - k] + sums[k], with the number k. The best beginning i - k
/// ascends with i because the sums are concave: divide and conquer.
struct ConcaveSums {
  std::span<const double> before, sums;
  std::span<double> best;
  std::span<std::int32_t> taken;

  void solve(std::size_t first, std::size_t last, std::size_t low, std::size_t high) {
    if (first >= last) return;
    const std::size_t middle = first + (last - first) / 2, most = sums.size() - 1;
    std::size_t chosen = std::min(high, middle);
    for (std::size_t j = chosen + 1; j-- > std::max(low, middle > most ? middle - most : 0);) {
      const double profit = before[j] + sums[middle - j];
      if (j != std::min(high, middle) && profit <= best[middle]) continue;
      best[middle] = profit;
      chosen = j;
    }
    taken[middle] = static_cast<std::int32_t>(middle - chosen);
    solve(first, middle, low, chosen);
    solve(middle + 1, last, chosen, high);
  }
};

}  // namespace

void KnapsackTables::widen() {
  best_.resize(static_cast<std::size_t>(capacity_) + 1, best_.back());
}

void KnapsackTables::merge(const KnapsackTables& part) {
  const std::span<const double> other = part.profits();
  const std::size_t size =
      std::min(static_cast<std::size_t>(capacity_) + 1, best_.size() + other.size() - 1);
  Step step{.part = &part, .taken = std::vector<std::int32_t>(size, 0)};
  std::vector<double> both = best_;
  both.resize(size, best_.back());
  for (std::size_t h = 1; h < std::min(other.size(), size); ++h) {
    const std::size_t end = std::min(best_.size(), size - h);
    for (std::size_t g = 0; g < end; ++g) {
      if (best_[g] + other[h] <= both[g + h]) continue;
      both[g + h] = best_[g] + other[h];
      step.taken[g + h] = static_cast<std::int32_t>(h);
    }
  }
  best_ = std::move(both);
  steps_.push_back(std::move(step));
}

void KnapsackTables::add(std::int64_t size, std::span<const std::uint32_t> items,
                         std::span<const double> profits) {
  widen();
  const auto width = static_cast<std::size_t>(size);
  const std::size_t most = std::min(items.size(), (best_.size() - 1) / width);
  if (most == 0) return;
  Step step{.size = size,
            .items = {items.begin(), items.end()},
            .taken = std::vector<std::int32_t>(best_.size(), 0)};
  std::vector<double> sums{0.0}, before, after;
  for (const double profit : profits.first(most)) sums.push_back(sums.back() + profit);
  std::vector<std::int32_t> taken;
  for (std::size_t residue = 0; residue < width; ++residue) {
    before.clear();
    for (std::size_t u = residue; u < best_.size(); u += width) before.push_back(best_[u]);
    after.resize(before.size());
    taken.resize(before.size());
    ConcaveSums{before, sums, after, taken}.solve(0, before.size(), 0, before.size() - 1);
    for (std::size_t i = 0; i < after.size(); ++i) {
      best_[residue + i * width] = after[i];
      step.taken[residue + i * width] = taken[i];
    }
  }
  steps_.push_back(std::move(step));
}

void KnapsackTables::pay_beyond(std::int64_t room, std::int64_t unit, double penalty) {
  for (std::size_t u = 0; u < best_.size(); ++u) {
    const std::int64_t beyond = static_cast<std::int64_t>(u) * unit - room;
    if (beyond > 0) best_[u] -= penalty * static_cast<double>(beyond);
  }
}

std::size_t KnapsackTables::units_at(double price) const {
  std::size_t best = 0;
  for (std::size_t u = 1; u < best_.size(); ++u) {
    const double more = best_[u] - price * static_cast<double>(u);
    if (more > best_[best] - price * static_cast<double>(best)) best = u;
  }
  return best;
}

void KnapsackTables::visit_choice(std::size_t units,
                                  const std::function<void(std::uint32_t)>& chosen) const {
  for (std::size_t s = steps_.size(); s-- > 0;) {
    const Step& step = steps_[s];
    const std::size_t at = std::min(units, step.taken.size() - 1);
    const auto taken = static_cast<std::size_t>(step.taken[at]);
    units = at;
    if (step.part != nullptr) {
      step.part->visit_choice(taken, chosen);
      units -= taken;
    } else {
      for (std::size_t i = 0; i < taken; ++i) chosen(step.items[i]);
      units -= taken * static_cast<std::size_t>(step.size);
    }
  }
}

}  // namespace berth::solver::bounding
