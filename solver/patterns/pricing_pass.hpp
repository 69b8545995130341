// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_patterns.hpp"
#include "pareto_knapsack.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::solver {

/// One pass of the pricing: all contents of the machine with a profit bound above a threshold.
class PricingPass {
 public:
  /// @param labels  most labels of the machine, divided among its devices
  PricingPass(const BinType& bin, std::span<const PricingItem> items, const MachineBound& bound,
              Profit threshold, std::size_t labels);

  void run();

  /// Last label of each content; the chain of parents has its other device patterns.
  [[nodiscard]] const std::vector<std::int32_t>& ends() const { return ends_; }
  [[nodiscard]] const Label& label(std::int32_t l) const {
    return arena_[static_cast<std::size_t>(l)];
  }
  [[nodiscard]] const DevicePattern& pattern(std::int32_t c) const {
    return patterns_[static_cast<std::size_t>(c)];
  }
  [[nodiscard]] bool truncated() const { return truncated_; }
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  [[nodiscard]] Profit devices_bound() const;
  [[nodiscard]] std::int32_t copies_before(const Label& last, std::int32_t item) const;
  /// Checks the caps of the pattern's items; empty where these cannot be exceeded.
  [[nodiscard]] ParetoKnapsack::Admits admits(const DevicePattern& pattern) const;
  void add_device_patterns(DevicePatterns found);
  void extend(ParetoKnapsack& knapsack, std::size_t from);
  void opened_devices(int free, std::size_t devices, Profit later);
  void whole_devices();

  const BinType& bin_;
  std::span<const PricingItem> items_;
  const MachineBound& bound_;
  std::size_t labels_;
  Profit delta_ = 0;
  Profit floor_ = 0;
  std::vector<char> tight_;  ///< by item: more copies than its cap would fit the machine
  bool truncated_ = false;
  std::int64_t work_ = 0;
  std::vector<Label> arena_;
  std::vector<DevicePattern> patterns_;
  std::vector<std::int32_t> ends_;
};

}  // namespace berth::solver
