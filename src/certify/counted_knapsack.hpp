// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "machine_knapsack.hpp"
#include "relaxed_knapsack.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/base/int128.hpp"

namespace berth::certify {

/// Bound on the contents of a machine by dynamic programming over devices and one resource, which
/// is counted in units; the other resources have multipliers. Needs are rounded down to units.
class CountedKnapsack {
 public:
  /// @param resource  that binds
  /// @param cells     filled in tables, about; decides the number of units
  CountedKnapsack(const MachineKnapsack& knapsack, const Multipliers& multipliers,
                  std::size_t resource, std::size_t cells);

  /// O(cells).
  [[nodiscard]] Int128 bound() const;
  /// True when the bound is the largest sum of prices of any content.
  [[nodiscard]] bool exact() const;

 private:
  using Row = std::vector<Int128>;  ///< most earned, by units

  [[nodiscard]] std::size_t cost(std::size_t units) const;
  [[nodiscard]] std::size_t units_of(const MachineKnapsack::Item& item) const;
  [[nodiscard]] Int128 reduced(const MachineKnapsack::Item& item) const;
  [[nodiscard]] std::vector<Row> by_steps() const;
  [[nodiscard]] std::vector<Row> by_devices(const Row& one) const;
  void add_without_gpus(Row& row) const;

  const MachineKnapsack& knapsack_;
  Multipliers multipliers_;
  std::size_t resource_;
  std::size_t units_ = 0;  ///< of the machine; 0: too few cells
};

}  // namespace berth::certify
