// SPDX-License-Identifier: Apache-2.0
#include "machine_bound.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "berth/base/int128.hpp"

namespace berth::solver {

Profit to_profit(double value) { return static_cast<Profit>(std::ceil(value * kProfitScale)); }

namespace {

constexpr int kMultiplierSweeps = 3;  ///< sweeps over the resources; chosen, not tuned
constexpr int kTangents = 10;         ///< steps along one multiplier; chosen, not tuned

/// A knapsack value and the resources that its content uses.
struct KnapsackCell {
  Profit profit = 0;
  model::Resources used = {};

  void raise(const KnapsackCell& base, Profit more, const PricingItem& item) {
    if (base.profit + more <= profit) return;
    *this = {base.profit + more, base.used + item.needs};
  }
  void raise(const KnapsackCell& a, const KnapsackCell& b) {
    if (a.profit + b.profit <= profit) return;
    *this = {a.profit + b.profit, a.used + b.used};
  }
  void operator+=(const KnapsackCell& other) {
    profit += other.profit;
    used += other.used;
  }
};

/// Best item of each share size among those with reduced profit > 0.
std::vector<std::pair<const PricingItem*, Profit>> best_shares(std::span<const PricingItem> items,
                                                               const Multipliers& m) {
  std::vector<std::pair<const PricingItem*, Profit>> best;  // items come sorted by share
  for (const PricingItem& item : items) {
    if (item.milli == 0) continue;
    const Profit r = reduced(item, m);
    if (r <= 0) continue;
    if (best.empty() || best.back().first->milli != item.milli) {
      best.emplace_back(&item, r);
    } else if (r > best.back().second) {
      best.back() = {&item, r};
    }
  }
  return best;
}

std::vector<KnapsackCell> device_values(std::span<const PricingItem> items, int unit,
                                        const Multipliers& m) {
  std::vector<KnapsackCell> value(static_cast<std::size_t>(model::kGpuMilli / unit) + 1);
  const auto shares = best_shares(items, m);
  for (std::size_t w = 1; w < value.size(); ++w) {
    value[w] = value[w - 1];
    for (const auto& [item, r] : shares) {
      const auto size = static_cast<std::size_t>(item->milli / unit);
      if (size <= w) value[w].raise(value[w - size], r, *item);
    }
  }
  return value;
}

std::vector<KnapsackCell> whole_values(const BinType& bin, std::span<const PricingItem> items,
                                       const KnapsackCell& device, const Multipliers& m) {
  std::vector<KnapsackCell> value(static_cast<std::size_t>(bin.whole) + 1);
  std::vector<const PricingItem*> best(value.size(), nullptr);  // by number of GPUs
  for (const PricingItem& item : items) {
    const auto k = static_cast<std::size_t>(item.gpus);
    if (k == 0 || k >= value.size()) continue;
    if (best[k] == nullptr || reduced(item, m) > reduced(*best[k], m)) best[k] = &item;
  }
  for (std::size_t g = 1; g < value.size(); ++g) {
    value[g] = value[g - 1];
    value[g].raise(value[g - 1], device);
    for (std::size_t k = 1; k <= g; ++k) {
      if (best[k] != nullptr) value[g].raise(value[g - k], reduced(*best[k], m), *best[k]);
    }
  }
  return value;
}

/// ceil(amount x profit / size)
Profit fill(std::int64_t amount, Profit profit, std::int64_t size) {
  return static_cast<Profit>((static_cast<Int128>(amount) * profit + size - 1) / size);
}

/// Bound on tasks without GPUs by one resource: all of it at the largest profit per unit.
struct ResourceBound {
  std::size_t resource = 0;
  std::int64_t capacity = 0;
  bool holds = true;  ///< every task needs this resource; otherwise it gives no bound
  KnapsackCell best = {};

  void add(const PricingItem& item, Profit r) {
    const std::int64_t size = item.needs[resource];
    if (size == 0) holds = false;
    if (size == 0) return;
    const Profit p = fill(capacity, r, size);
    if (p <= best.profit) return;
    best.profit = p;
    for (std::size_t other = 0; other < model::kResources; ++other) {
      best.used[other] = fill(capacity, item.needs[other], size);
    }
  }
};

/// Bound on the reduced profit of tasks without GPUs: the least of the bounds by one resource
/// (Dantzig 1957), with the content that attains it.
KnapsackCell cpu_only_value(const BinType& bin, std::span<const PricingItem> items,
                            const Multipliers& m) {
  std::array<ResourceBound, model::kResources> by;
  for (std::size_t r = 0; r < by.size(); ++r) by[r] = {.resource = r, .capacity = bin.room[r]};
  bool any = false;
  Profit sum = 0;
  for (const PricingItem& item : items) {
    const Profit r = item.uses_gpu() ? 0 : reduced(item, m);
    if (r <= 0) continue;
    any = true;
    sum += r * item.cap;
    for (ResourceBound& resource : by) resource.add(item, r);
  }
  if (!any) return {};
  const ResourceBound* least = nullptr;
  for (const ResourceBound& f : by) {
    if (f.holds && (least == nullptr || f.best.profit < least->best.profit)) least = &f;
  }
  return least == nullptr ? KnapsackCell{.profit = sum} : least->best;
}

}  // namespace

MachineBound bound_at(const BinType& bin, std::span<const PricingItem> items, int unit,
                      const Multipliers& m) {
  const auto device = device_values(items, unit, m);
  const auto whole = whole_values(bin, items, device.back(), m);
  KnapsackCell sum = cpu_only_value(bin, items, m);
  MachineBound b{.multipliers = m, .unit = unit, .share = {}, .whole = {}, .cpu_only = sum.profit};
  sum += whole.back();
  for (const int free : bin.partial) sum += device[static_cast<std::size_t>(free / unit)];
  for (const KnapsackCell& c : device) b.share.push_back(c.profit);
  for (const KnapsackCell& c : whole) b.whole.push_back(c.profit);
  b.bound = sum.profit;
  for (std::size_t r = 0; r < model::kResources; ++r) {
    if (m[r] > 0) b.bound += m[r] * bin.room[r];
  }
  b.used = sum.used;
  return b;
}

namespace {

int common_unit(const BinType& bin, std::span<const PricingItem> items) {
  int unit = static_cast<int>(model::kGpuMilli);
  for (const PricingItem& item : items) unit = std::gcd(unit, item.milli);
  (void)bin;  // an opened device of odd size holds floor(free / unit) units
  return unit;
}

/// The bound as a convex function of one multiplier, with the others fixed: value and slope.
struct MultiplierSearch {
  const BinType& bin;
  std::span<const PricingItem> items;
  int unit;
  std::size_t resource;
  std::int64_t capacity;
  MachineBound* best;

  MachineBound at(Profit value) const {
    Multipliers m = best->multipliers;
    m[resource] = value;
    return bound_at(bin, items, unit, m);
  }
  [[nodiscard]] Profit multiplier(const MachineBound& b) const { return b.multipliers[resource]; }
  [[nodiscard]] std::int64_t slope(const MachineBound& b) const {
    return capacity - b.used[resource];
  }
};

/// The x at which two tangents of a convex function intersect: value f and slope s at x0 and x1.
Profit tangent_intersection(Profit x0, Profit f0, std::int64_t s0, Profit x1, Profit f1,
                            std::int64_t s1) {
  const Int128 up =
      static_cast<Int128>(f1) - f0 + static_cast<Int128>(s0) * x0 - static_cast<Int128>(s1) * x1;
  const Int128 down = static_cast<Int128>(s0) - s1;
  return down == 0 ? x0 : static_cast<Profit>(up / down);
}

/// Minimises along one multiplier: intersects the tangents of a point of negative and one of
/// positive slope. True when the best bound got smaller.
bool minimise_along(const MultiplierSearch& search) {
  if (search.capacity == 0) return false;
  const Profit start = search.best->bound;
  MachineBound low = search.at(0);
  if (low.bound < search.best->bound) *search.best = low;
  if (search.slope(low) >= 0) return search.best->bound < start;
  MachineBound high = search.at(low.bound / search.capacity + 1);
  for (int t = 0; t < kTangents && search.slope(high) > 0; ++t) {
    const Profit x =
        std::clamp(tangent_intersection(search.multiplier(low), low.bound, search.slope(low),
                                        search.multiplier(high), high.bound, search.slope(high)),
                   search.multiplier(low), search.multiplier(high));
    MachineBound middle = search.at(x);
    if (middle.bound < search.best->bound) *search.best = middle;
    const std::int64_t s = search.slope(middle);
    if (s == 0 || x == search.multiplier(low) || x == search.multiplier(high)) break;
    (s < 0 ? low : high) = std::move(middle);
  }
  if (high.bound < search.best->bound) *search.best = high;
  return search.best->bound < start;
}

}  // namespace

MachineBound best_bound(const BinType& bin, std::span<const PricingItem> items) {
  const int unit = common_unit(bin, items);
  MachineBound best = bound_at(bin, items, unit, {});
  std::vector<std::size_t> counted;  // resources that some item needs, and the required ones
  for (std::size_t r = 0; r < model::kResources; ++r) {
    const auto needs = [&](const PricingItem& i) { return i.needs[r] > 0; };
    if (r < model::kRequiredResources || std::ranges::any_of(items, needs)) counted.push_back(r);
  }
  bool better = true;
  for (int turn = 0; better && turn < kMultiplierSweeps; ++turn) {
    better = false;
    for (const std::size_t r : counted) {
      if (minimise_along({bin, items, unit, r, bin.room[r], &best})) better = true;
    }
  }
  return best;
}

}  // namespace berth::solver
