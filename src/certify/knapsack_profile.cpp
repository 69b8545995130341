// SPDX-License-Identifier: Apache-2.0
#include "knapsack_profile.hpp"

#include <algorithm>
#include <bit>

namespace berth::certify {
namespace {

/// best[i] = max over k of before[i - k] + sum of the k most profitable items.
class EqualSizes {
 public:
  EqualSizes(std::span<const std::int64_t> before, std::span<const std::int64_t> sums,
             std::span<std::int64_t> best)
      : before_(before), sums_(sums), best_(best) {}

  void solve() { solve(0, before_.size(), 0, before_.size() - 1); }

 private:
  /// Capacities first .. last - 1, whose items begin at a capacity of `low` to `high`.
  void solve(std::size_t first, std::size_t last, std::size_t low, std::size_t high) {
    if (first >= last) return;
    const std::size_t middle = first + (last - first) / 2, most = sums_.size() - 1;
    const std::size_t from = std::max(low, middle > most ? middle - most : 0);
    std::size_t chosen = from;
    std::int64_t found = -1;
    for (std::size_t j = from; j <= std::min(high, middle); ++j) {
      const std::int64_t profit = before_[j] + sums_[middle - j];
      if (profit > found) {
        found = profit;
        chosen = j;
      }
    }
    best_[middle] = found;
    solve(first, middle, low, chosen);
    solve(middle + 1, last, chosen, high);
  }

  std::span<const std::int64_t> before_, sums_;
  std::span<std::int64_t> best_;
};

}  // namespace

void add_equal_sizes(KnapsackProfile& best, std::size_t size,
                     std::span<const std::int64_t> profits) {
  const std::size_t most = std::min(profits.size(), (best.size() - 1) / size);
  if (most == 0) return;
  std::vector<std::int64_t> sums{0};
  for (const std::int64_t profit : profits.first(most)) sums.push_back(sums.back() + profit);
  std::vector<std::int64_t> before, after;
  for (std::size_t residue = 0; residue < size; ++residue) {
    before.clear();
    for (std::size_t u = residue; u < best.size(); u += size) before.push_back(best[u]);
    after.resize(before.size());
    EqualSizes(before, sums, after).solve();
    for (std::size_t i = 0; i < after.size(); ++i) best[residue + i * size] = after[i];
  }
}

std::int64_t cells_of_size(std::int64_t capacity, std::int64_t size) {
  const auto steps = static_cast<std::uint64_t>(1 + capacity / size);
  return (capacity + 1) * static_cast<std::int64_t>(std::bit_width(steps));
}

KnapsackProfile merged(const KnapsackProfile& a, const KnapsackProfile& b, std::size_t capacity) {
  KnapsackProfile both(std::min(capacity, a.size() + b.size() - 2) + 1, 0);
  for (std::size_t h = 0; h < std::min(b.size(), both.size()); ++h) {
    const std::size_t end = std::min(a.size(), both.size() - h);
    for (std::size_t g = 0; g < end; ++g) both[g + h] = std::max(both[g + h], a[g] + b[h]);
  }
  return both;
}

}  // namespace berth::certify
