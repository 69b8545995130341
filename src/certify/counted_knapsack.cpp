// SPDX-License-Identifier: Apache-2.0
#include "counted_knapsack.hpp"

#include <algorithm>

namespace berth::certify {
namespace {

constexpr std::size_t kMostUnits = 512;  ///< of the resource. Chosen, not tuned.

/// Most earned by both on so many units together.
std::vector<Int128> together(const std::vector<Int128>& a, const std::vector<Int128>& b) {
  std::vector<Int128> both(a.size(), 0);
  for (std::size_t u = 0; u < a.size(); ++u) {
    for (std::size_t v = 0; v <= u; ++v) both[u] = std::max(both[u], a[u - v] + b[v]);
  }
  return both;
}

}  // namespace

CountedKnapsack::CountedKnapsack(const MachineKnapsack& knapsack, const Multipliers& multipliers,
                                 std::size_t resource, std::size_t cells)
    : knapsack_(knapsack), multipliers_(multipliers), resource_(resource) {
  multipliers_[resource] = 0;
  units_ = kMostUnits;
  if (knapsack.room()[resource] < static_cast<std::int64_t>(kMostUnits)) {
    units_ = static_cast<std::size_t>(knapsack.room()[resource]);
  }
  while (units_ > 0 && cost(units_) > cells) units_ /= 2;
}

std::size_t CountedKnapsack::cost(std::size_t units) const {
  const std::size_t row = units + 1, shares = knapsack_.shares().size();
  const std::size_t filled = knapsack_.tasks().size() * knapsack_.whole() +
                             shares * knapsack_.width() + knapsack_.without_gpus().size();
  const std::size_t pairs =
      shares > 0 ? (knapsack_.whole() + knapsack_.partly().size()) * row * row / 2 : 0;
  return filled * row + pairs;
}

std::size_t CountedKnapsack::units_of(const MachineKnapsack::Item& item) const {
  const Int128 need = item.needs[resource_], room = knapsack_.room()[resource_];
  return static_cast<std::size_t>(need * static_cast<std::int64_t>(units_) /
                                  std::max<Int128>(1, room));
}

Int128 CountedKnapsack::reduced(const MachineKnapsack::Item& item) const {
  Int128 earned = item.price;
  for (const std::size_t r : knapsack_.binding()) earned -= multipliers_[r] * item.needs[r];
  return earned;
}

bool CountedKnapsack::exact() const {
  const auto plenty = [](const auto& items) {
    return std::ranges::all_of(items, &MachineKnapsack::Item::plenty);
  };
  return knapsack_.binding().size() == 1 &&
         static_cast<std::int64_t>(units_) == knapsack_.room()[resource_] &&
         plenty(knapsack_.tasks()) && plenty(knapsack_.without_gpus());
}

/// Most that shares earn on one device, by its steps.
std::vector<CountedKnapsack::Row> CountedKnapsack::by_steps() const {
  std::vector<Row> most(knapsack_.width() + 1, Row(units_ + 1, 0));
  for (const MachineKnapsack::Item& share : knapsack_.shares()) {
    const Int128 gain = reduced(share);
    if (gain <= 0) continue;
    const std::size_t width = knapsack_.width(share), units = units_of(share);
    for (std::size_t w = width; w < most.size(); ++w) {
      for (std::size_t u = units; u <= units_; ++u) {
        most[w][u] = std::max(most[w][u], most[w - width][u - units] + gain);
      }
    }
  }
  return most;
}

/// Most that tasks and shares earn on whole devices, by their number.
/// @param one  of shares on one device
std::vector<CountedKnapsack::Row> CountedKnapsack::by_devices(const Row& one) const {
  std::vector<Row> most(knapsack_.whole() + 1, Row(units_ + 1, 0));
  for (std::size_t g = 1; g < most.size() && one.back() > 0; ++g) {
    most[g] = together(most[g - 1], one);
  }
  for (const MachineKnapsack::Item& task : knapsack_.tasks()) {
    const Int128 gain = reduced(task);
    if (gain <= 0) continue;
    const auto size = static_cast<std::size_t>(task.devices);
    const std::size_t units = units_of(task);
    for (std::size_t g = size; g < most.size(); ++g) {
      for (std::size_t u = units; u <= units_; ++u) {
        most[g][u] = std::max(most[g][u], most[g - size][u - units] + gain);
      }
    }
  }
  return most;
}

void CountedKnapsack::add_without_gpus(Row& row) const {
  for (const MachineKnapsack::Item& item : knapsack_.without_gpus()) {
    const Int128 gain = reduced(item);
    if (gain <= 0) continue;
    const std::size_t units = units_of(item);
    for (std::size_t u = units; u <= units_; ++u) {
      row[u] = units > 0 ? std::max(row[u], row[u - units] + gain) : row[u] + gain * item.most;
    }
  }
}

Int128 CountedKnapsack::bound() const {
  const std::vector<Row> shares = by_steps();
  Row row = by_devices(shares.back()).back();
  for (const std::size_t steps : knapsack_.partly()) row = together(row, shares[steps]);
  add_without_gpus(row);
  Int128 capacity = 0;
  for (const std::size_t r : knapsack_.binding()) capacity += multipliers_[r] * knapsack_.room()[r];
  return capacity + row.back();
}

}  // namespace berth::certify
