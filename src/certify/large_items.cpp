// SPDX-License-Identifier: Apache-2.0
#include "large_items.hpp"

#include "knapsack_profile.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <vector>

namespace berth::certify {
namespace {

struct DivisibleItem {
  std::int64_t milli, profit;
};
using BySize = std::map<std::int64_t, std::vector<std::int64_t>, std::greater<>>;

/// Items that are chosen whole, in units.
struct LargeSizes {
  std::int64_t unit = 1;  ///< GPU thousandths
  std::size_t count = 0;  ///< of sizes
};

LargeSizes large_sizes(const BySize& sizes, std::int64_t room, std::int64_t cells) {
  LargeSizes best;
  std::size_t count = 0;
  std::int64_t unit = 0;
  for (const auto& [size, profits] : sizes) {
    unit = std::gcd(unit, size);
    ++count;
    // the smallest size is the cheapest in whole items and the dearest in cells
    if (static_cast<std::int64_t>(count) * cells_of_size(room / unit, size / unit) > cells)
      continue;
    best = {unit, count};
  }
  return best;
}

/// Largest profit of divisible items by capacity, for ascending capacities.
class DivisibleItems {
 public:
  explicit DivisibleItems(std::vector<DivisibleItem> items) : items_(std::move(items)) {
    std::ranges::sort(items_, [](const DivisibleItem& a, const DivisibleItem& b) {
      const Int128 left = Int128{a.profit} * b.milli, right = Int128{b.profit} * a.milli;
      return left != right ? left > right : a.milli < b.milli;
    });
  }

  std::int64_t at(std::int64_t capacity) {
    while (next_ < items_.size() && taken_ + items_[next_].milli <= capacity) {
      taken_ += items_[next_].milli;
      profit_ += items_[next_++].profit;
    }
    if (next_ == items_.size()) return profit_;
    const DivisibleItem& part = items_[next_];
    const Int128 share = Int128{part.profit} * (capacity - taken_);
    return profit_ + static_cast<std::int64_t>((share + part.milli - 1) / part.milli);
  }

 private:
  std::vector<DivisibleItem> items_;
  std::size_t next_ = 0;
  std::int64_t taken_ = 0, profit_ = 0;
};

}  // namespace

Int128 large_items_bound(const CapacityTree& tree, std::size_t node, std::int64_t cells) {
  const std::int64_t room = tree.room(node);
  const Int128 price = tree.node(node).price;
  BySize sizes;
  Int128 total = 0;
  for (const std::size_t n : tree.subtree(node)) {
    total += tree.must_net(n, price);
    if (n != node) total += tree.node(n).price * tree.node(n).capacity;
    for (const ChoiceItem& item : tree.own(n)) {
      const std::int64_t profit = tree.scaled_up(item.net + price * item.milli);
      if (profit > 0 && item.milli <= room) sizes[item.milli].push_back(profit);
    }
  }
  const LargeSizes large = large_sizes(sizes, room, cells);
  KnapsackProfile whole(static_cast<std::size_t>(large.count > 0 ? room / large.unit : 0) + 1, 0);
  std::vector<DivisibleItem> others;
  std::size_t at = 0;
  for (auto& [size, profits] : sizes) {
    std::ranges::sort(profits, std::greater<>());
    if (at++ < large.count) {
      add_equal_sizes(whole, static_cast<std::size_t>(size / large.unit), profits);
    } else {
      for (const std::int64_t profit : profits) others.push_back({size, profit});
    }
  }
  DivisibleItems divisible(std::move(others));
  std::int64_t most = 0;
  for (std::size_t u = whole.size(); u-- > 0;) {
    const std::int64_t left = room - static_cast<std::int64_t>(u) * large.unit;
    most = std::max(most, whole[u] + divisible.at(left));
  }
  return total + tree.unscaled(most);
}

}  // namespace berth::certify
