// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/base/random.hpp"

namespace berth::bench {

/// Draws of one job, in the order that they are asked for.
class JobDraws {
 public:
  JobDraws(std::uint64_t seed, std::uint64_t job) : seed_(seed), job_(job) {}
  /// In [low, high).
  double real(double low, double high) {
    return low + (high - low) * random_unit({seed_, job_, next_++});
  }
  /// In low .. high.
  std::int32_t whole(std::int32_t low, std::int32_t high) {
    const auto count = static_cast<std::uint64_t>(high - low + 1);
    return low + static_cast<std::int32_t>(random_below(count, {seed_, job_, next_++}));
  }

 private:
  std::uint64_t seed_, job_, next_ = 0;
};

}  // namespace berth::bench
