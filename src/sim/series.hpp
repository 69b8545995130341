// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "berth/sim/simulate.hpp"

namespace berth::sim {

/// Averages of step functions over intervals of equal length. The length doubles when the points
/// are too many, so that their number is bounded and does not depend on the length of the trace.
class Series {
 public:
  static constexpr std::size_t kMostPoints = 2048;

  struct Levels {
    std::int64_t milli = 0;
    std::int64_t running = 0;
    std::int64_t waiting = 0;
  };

  explicit Series(Micros start) : start_(start), time_(start) {}
  /// The levels hold from the last time to `now`.
  void add(Micros now, const Levels& levels);
  [[nodiscard]] Micros interval() const { return interval_; }
  [[nodiscard]] std::vector<SeriesPoint> points() const;

  template <class Archive>
  friend void describe(Archive& archive, Series& series) {
    archive(series.start_, series.time_, series.interval_, series.sums_);
  }

 private:
  struct Sum {
    double milli = 0.0, running = 0.0, waiting = 0.0;  ///< integrals over microseconds
  };
  void double_interval();

  Micros start_;
  Micros time_;
  Micros interval_ = kSecond;
  std::vector<Sum> sums_;
};

}  // namespace berth::sim
