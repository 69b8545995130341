// SPDX-License-Identifier: Apache-2.0
#include "machine_bound.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "berth/base/int128.hpp"

namespace berth::solver {

Profit to_profit(double value) { return static_cast<Profit>(std::ceil(value * kProfitScale)); }

namespace {

constexpr int kTurns = 3;
constexpr int kCutsATurn = 10;

/// A knapsack value and what its content uses.
struct Cell {
  Profit profit = 0;
  std::int64_t cpu = 0;
  std::int64_t memory = 0;

  void raise(const Cell& base, Profit more, const Item& item) {
    if (base.profit + more <= profit) return;
    *this = {base.profit + more, base.cpu + item.cpu, base.memory + item.memory};
  }
  void raise(const Cell& a, const Cell& b) {
    if (a.profit + b.profit <= profit) return;
    *this = {a.profit + b.profit, a.cpu + b.cpu, a.memory + b.memory};
  }
  void operator+=(const Cell& other) {
    profit += other.profit;
    cpu += other.cpu;
    memory += other.memory;
  }
};

/// Best item of each share size, reduced profits > 0 only.
std::vector<std::pair<const Item*, Profit>> best_shares(std::span<const Item> items,
                                                        const Multipliers& m) {
  std::vector<std::pair<const Item*, Profit>> best;  // items come sorted by share
  for (const Item& item : items) {
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

std::vector<Cell> device_values(std::span<const Item> items, int unit, const Multipliers& m) {
  std::vector<Cell> value(static_cast<std::size_t>(model::kGpuMilli / unit) + 1);
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

std::vector<Cell> whole_values(const MachineState& state, std::span<const Item> items,
                               const Cell& device, const Multipliers& m) {
  std::vector<Cell> value(static_cast<std::size_t>(state.whole) + 1);
  std::vector<const Item*> best(value.size(), nullptr);  // by number of GPUs
  for (const Item& item : items) {
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

/// Tasks without GPUs: the better of the two one-resource bounds, with what fills the machine.
Cell cpu_only_value(const MachineState& state, std::span<const Item> items, const Multipliers& m) {
  Cell by_cpu;
  Cell by_memory;
  bool any = false;
  bool cpu_holds = true;
  bool memory_holds = true;
  Profit sum = 0;
  for (const Item& item : items) {
    const Profit r = item.uses_gpu() ? 0 : reduced(item, m);
    if (r <= 0) continue;
    any = true;
    sum += r * item.cap;
    if (item.cpu == 0) cpu_holds = false;
    if (item.memory == 0) memory_holds = false;
    if (item.cpu > 0) {
      const Profit p = fill(state.cpu, r, item.cpu);
      if (p > by_cpu.profit) by_cpu = {p, state.cpu, fill(state.cpu, item.memory, item.cpu)};
    }
    if (item.memory > 0) {
      const Profit p = fill(state.memory, r, item.memory);
      if (p > by_memory.profit) {
        by_memory = {p, fill(state.memory, item.cpu, item.memory), state.memory};
      }
    }
  }
  if (!any) return {};
  if (!cpu_holds && !memory_holds) return {sum, 0, 0};
  if (!cpu_holds) return by_memory;
  if (!memory_holds) return by_cpu;
  return by_cpu.profit <= by_memory.profit ? by_cpu : by_memory;
}

}  // namespace

MachineBound bound_at(const MachineState& state, std::span<const Item> items, int unit,
                      const Multipliers& m) {
  const auto device = device_values(items, unit, m);
  const auto whole = whole_values(state, items, device.back(), m);
  Cell sum = cpu_only_value(state, items, m);
  MachineBound b{.multipliers = m, .unit = unit, .share = {}, .whole = {}, .cpu_only = sum.profit};
  sum += whole.back();
  for (const int free : state.partial) sum += device[static_cast<std::size_t>(free / unit)];
  for (const Cell& c : device) b.share.push_back(c.profit);
  for (const Cell& c : whole) b.whole.push_back(c.profit);
  b.bound = sum.profit + m.cpu * state.cpu + m.memory * state.memory;
  b.cpu_used = sum.cpu;
  b.memory_used = sum.memory;
  return b;
}

namespace {

int common_unit(const MachineState& state, std::span<const Item> items) {
  int unit = static_cast<int>(model::kGpuMilli);
  for (const Item& item : items) unit = std::gcd(unit, item.milli);
  (void)state;  // an opened device of odd size holds floor(free / unit) units
  return unit;
}

/// One multiplier of the two, the other kept: value and slope of the bound there.
struct Line {
  const MachineState& state;
  std::span<const Item> items;
  int unit;
  Profit Multipliers::*which;
  MachineBound* best;

  MachineBound at(Profit value) const {
    Multipliers m = best->multipliers;
    m.*which = value;
    return bound_at(state, items, unit, m);
  }
  [[nodiscard]] std::int64_t capacity() const {
    return which == &Multipliers::cpu ? state.cpu : state.memory;
  }
  [[nodiscard]] std::int64_t slope(const MachineBound& b) const {
    return capacity() - (which == &Multipliers::cpu ? b.cpu_used : b.memory_used);
  }
};

/// Where the tangents at two sides of a convex function meet.
Profit meeting(Profit x0, Profit f0, std::int64_t s0, Profit x1, Profit f1, std::int64_t s1) {
  const Int128 up =
      static_cast<Int128>(f1) - f0 + static_cast<Int128>(s0) * x0 - static_cast<Int128>(s1) * x1;
  const Int128 down = static_cast<Int128>(s0) - s1;
  return down == 0 ? x0 : static_cast<Profit>(up / down);
}

/// Cutting lines between a point that falls and one that rises. True when the best point moved.
bool improve(const Line& line) {
  if (line.capacity() == 0) return false;
  const Profit start = line.best->bound;
  MachineBound low = line.at(0);
  if (low.bound < line.best->bound) *line.best = low;
  if (line.slope(low) >= 0) return line.best->bound < start;
  MachineBound high = line.at(low.bound / line.capacity() + 1);
  for (int cut = 0; cut < kCutsATurn && line.slope(high) > 0; ++cut) {
    const Profit x = std::clamp(meeting(low.multipliers.*line.which, low.bound, line.slope(low),
                                        high.multipliers.*line.which, high.bound, line.slope(high)),
                                low.multipliers.*line.which, high.multipliers.*line.which);
    MachineBound middle = line.at(x);
    if (middle.bound < line.best->bound) *line.best = middle;
    const std::int64_t s = line.slope(middle);
    if (s == 0 || x == low.multipliers.*line.which || x == high.multipliers.*line.which) break;
    (s < 0 ? low : high) = std::move(middle);
  }
  if (high.bound < line.best->bound) *line.best = high;
  return line.best->bound < start;
}

}  // namespace

MachineBound best_bound(const MachineState& state, std::span<const Item> items) {
  const int unit = common_unit(state, items);
  MachineBound best = bound_at(state, items, unit, {});
  for (int turn = 0; turn < kTurns; ++turn) {
    const bool by_cpu = improve({state, items, unit, &Multipliers::cpu, &best});
    const bool by_memory = improve({state, items, unit, &Multipliers::memory, &best});
    if (!by_cpu && !by_memory) break;
  }
  return best;
}

}  // namespace berth::solver
