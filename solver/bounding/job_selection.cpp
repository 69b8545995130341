// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/job_selection.hpp"

#include "bounding/knapsack_tables.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace berth::solver {
namespace {

using bounding::KnapsackTables;

constexpr int kBisections = 60;  ///< of a price: 2^-60 of the largest density

/// Units of a subtree that is solved exactly, and the cells of its tables.
struct SubtreeUnits {
  std::int64_t unit = 1, cells = 0;
};

class JobSelector {
 public:
  JobSelector(std::span<const SelectionNode> nodes, std::span<const SelectionItem> items)
      : nodes_(nodes),
        items_(items),
        children_(nodes.size()),
        own_(nodes.size()),
        room_(nodes.size()),
        demand_(nodes.size(), 0),
        limit_(nodes.size(), 0),
        solved_(nodes.size()),
        clearing_(nodes.size(), 0.0),
        exact_(nodes.size(), 0) {
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      room_[n] = nodes[n].capacity;
      if (n > 0) children_[above(n)].push_back(n);
    }
    sort_items();
  }

  JobSelection select(std::int64_t cells) {
    choose_exact(cells);
    for (std::size_t n = nodes_.size(); n-- > 0;) {
      if (exact_[n] == kRoot) solve(n, units_of(n).unit);
      if (exact_[n] == kPriced) clearing_[n] = clearing_price(n);
    }
    return result();
  }

 private:
  static constexpr std::uint8_t kPriced = 0, kRoot = 1, kWithin = 2;

  [[nodiscard]] std::size_t above(std::size_t n) const {
    return static_cast<std::size_t>(nodes_[n].parent);
  }
  [[nodiscard]] double density(std::uint32_t i) const {
    return items_[i].profit / static_cast<double>(items_[i].milli);
  }
  [[nodiscard]] bool hard(std::size_t n) const { return std::isinf(nodes_[n].penalty); }

  void sort_items() {
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
      const auto node = static_cast<std::size_t>(items_[i].node);
      largest_density_ = std::max(largest_density_, density(i));
      if (items_[i].must) {
        for (std::size_t n = node;; n = above(n)) {
          room_[n] -= items_[i].milli;
          if (n == 0) break;
        }
      } else if (items_[i].profit > 0.0) {
        own_[node].push_back(i);
        demand_[node] += items_[i].milli;
      }
    }
    for (std::size_t n = nodes_.size(); n-- > 0;) {
      room_[n] = std::max<std::int64_t>(0, room_[n]);
      if (n > 0) demand_[above(n)] += demand_[n];
      std::ranges::sort(own_[n], [&](std::uint32_t a, std::uint32_t b) {
        if (items_[a].milli != items_[b].milli) return items_[a].milli > items_[b].milli;
        return items_[a].profit != items_[b].profit ? items_[a].profit > items_[b].profit : a < b;
      });
    }
  }

  [[nodiscard]] std::vector<std::size_t> subtree(std::size_t n) const {
    std::vector<std::size_t> found{n};
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto& below = children_[found[i]];
      found.insert(found.end(), below.begin(), below.end());
    }
    return found;
  }

  /// Calls visit with each run of own items of one size, the most profitable first.
  /// O(sizes log items)
  template <class Visit>
  void for_each_size(std::size_t n, const Visit& visit) const {
    std::span<const std::uint32_t> own = own_[n];
    while (!own.empty()) {
      const std::int64_t milli = items_[own.front()].milli;
      const auto same = std::ranges::upper_bound(own, milli, std::greater<>(),
                                                 [&](std::uint32_t i) { return items_[i].milli; });
      const auto count = static_cast<std::size_t>(same - own.begin());
      visit(milli, own.first(count));
      own = own.subspan(count);
    }
  }

  /// Also sets the limits of the subtree's nodes.
  SubtreeUnits units_of(std::size_t root) {
    SubtreeUnits result{0, 0};
    const std::vector<std::size_t> all = subtree(root);
    for (const std::size_t n : all) {
      for_each_size(n,
                    [&](std::int64_t milli, auto) { result.unit = std::gcd(result.unit, milli); });
    }
    result.unit = std::max<std::int64_t>(1, result.unit);
    for (const std::size_t n : all) {
      limit_[n] = demand_[n] / result.unit;
      if (n != root) limit_[n] = std::min(limit_[n], limit_[above(n)]);
      if (hard(n)) limit_[n] = std::min(limit_[n], room_[n] / result.unit);
    }
    for (const std::size_t n : all) {
      std::int64_t merged = 0;
      for (const std::size_t c : children_[n]) {
        merged = std::min(limit_[n], merged + limit_[c]);
        result.cells += (merged + 1) * (limit_[c] + 1);
      }
      for_each_size(n, [&](std::int64_t milli, auto) {
        const auto most = static_cast<std::uint64_t>(1 + limit_[n] / (milli / result.unit));
        result.cells += (limit_[n] + 1) * static_cast<std::int64_t>(std::bit_width(most));
      });
    }
    return result;
  }

  void choose_exact(std::int64_t cells) {
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (n > 0 && exact_[above(n)] != kPriced) {
        exact_[n] = kWithin;
        continue;
      }
      if (cells <= 0) continue;
      const std::int64_t needed = units_of(n).cells;
      if (needed > cells) continue;
      cells -= needed;
      exact_[n] = kRoot;
    }
  }

  void solve(std::size_t root, std::int64_t unit) {
    const std::vector<std::size_t> all = subtree(root);
    units_[root] = unit;
    for (std::size_t i = all.size(); i-- > 0;) {
      const std::size_t n = all[i];
      KnapsackTables& tables = solved_[n].emplace(limit_[n]);
      for (const std::size_t c : children_[n]) tables.merge(*solved_[c]);
      for_each_size(n, [&](std::int64_t milli, std::span<const std::uint32_t> same) {
        std::vector<double> profits;
        for (const std::uint32_t item : same) profits.push_back(items_[item].profit);
        tables.add(milli / unit, same, profits);
      });
      if (!hard(n)) tables.pay_beyond(room_[n], unit, nodes_[n].penalty);
    }
  }

  /// Price of a node when `paid` is the price of the node above.
  [[nodiscard]] double price_at(std::size_t n, double paid) const {
    if (exact_[n] != kPriced) return paid;
    return std::min(std::max(paid, clearing_[n]), paid + nodes_[n].penalty);
  }

  /// Thousandths that the node's items and the nodes below ask for at a price.
  [[nodiscard]] std::int64_t asked(std::size_t n, double price) const {
    if (exact_[n] == kRoot) {
      const std::int64_t unit = units_.at(n);
      return static_cast<std::int64_t>(solved_[n]->units_at(price * static_cast<double>(unit))) *
             unit;
    }
    std::int64_t sum = 0;
    for_each_size(n, [&](std::int64_t milli, std::span<const std::uint32_t> same) {
      const auto dense =
          std::ranges::partition_point(same, [&](std::uint32_t i) { return density(i) > price; });
      sum += milli * (dense - same.begin());
    });
    for (const std::size_t c : children_[n]) sum += asked(c, price_at(c, price));
    return sum;
  }

  [[nodiscard]] double clearing_price(std::size_t n) const {
    if (asked(n, 0.0) <= room_[n]) return 0.0;
    double low = 0.0, high = largest_density_;
    for (int i = 0; i < kBisections; ++i) {
      const double middle = 0.5 * (low + high);
      (asked(n, middle) > room_[n] ? low : high) = middle;
    }
    return high;
  }

  JobSelection result() const {
    JobSelection found{.selected = std::vector<std::uint8_t>(items_.size(), 0),
                       .prices = std::vector<double>(nodes_.size(), 0.0)};
    std::vector<double> price(nodes_.size(), 0.0);
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (!items_[i].must) continue;
      found.selected[i] = 1;
      found.bound += items_[i].profit;
    }
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const double paid = n == 0 ? 0.0 : price[above(n)];
      price[n] = price_at(n, paid);
      found.prices[n] = price[n] - paid;
      found.bound += found.prices[n] * static_cast<double>(room_[n]);
      if (exact_[n] == kPriced) select_own(n, price[n], found);
      if (exact_[n] == kRoot) select_exact(n, paid, found);
    }
    return found;
  }

  void select_own(std::size_t n, double price, JobSelection& found) const {
    for (const std::uint32_t i : own_[n]) {
      if (density(i) <= price) continue;
      found.selected[i] = 1;
      found.bound += items_[i].profit - price * static_cast<double>(items_[i].milli);
    }
  }

  void select_exact(std::size_t n, double price, JobSelection& found) const {
    const double per_unit = price * static_cast<double>(units_.at(n));
    const std::size_t units = solved_[n]->units_at(per_unit);
    found.bound += solved_[n]->profits()[units] - per_unit * static_cast<double>(units);
    solved_[n]->visit_choice(units, [&](std::uint32_t item) { found.selected[item] = 1; });
  }

  std::span<const SelectionNode> nodes_;
  std::span<const SelectionItem> items_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<std::vector<std::uint32_t>> own_;  ///< largest first, then most profitable
  std::vector<std::int64_t> room_, demand_;      ///< by node: thousandths
  std::vector<std::int64_t> limit_;              ///< by node: units that its items may take
  std::vector<std::optional<KnapsackTables>> solved_;
  std::map<std::size_t, std::int64_t> units_;  ///< of exact roots: thousandths of a unit
  std::vector<double> clearing_;               ///< by node: price without the nodes above
  std::vector<std::uint8_t> exact_;
  double largest_density_ = 0.0;
};

}  // namespace

JobSelection select_jobs(std::span<const SelectionNode> nodes, std::span<const SelectionItem> items,
                         std::int64_t cells) {
  return JobSelector(nodes, items).select(cells);
}

}  // namespace berth::solver
