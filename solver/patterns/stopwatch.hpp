// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace berth::solver {

/// Wall seconds for statistics. No decision of the solver depends on a clock.
class Stopwatch {
 public:
  /// Seconds since the last lap (or the start).
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace berth::solver
