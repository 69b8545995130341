// SPDX-License-Identifier: Apache-2.0
#include "series.hpp"

#include <algorithm>

namespace berth::sim {

void Series::add(Micros now, const Levels& levels) {
  while ((now - start_) / interval_ >= static_cast<Micros>(kMostPoints)) double_interval();
  while (time_ < now) {
    const auto point = static_cast<std::size_t>((time_ - start_) / interval_);
    const Micros end = start_ + static_cast<Micros>(point + 1) * interval_;
    const auto length = static_cast<double>(std::min(end, now) - time_);
    if (sums_.size() <= point) sums_.resize(point + 1);
    sums_[point].milli += length * static_cast<double>(levels.milli);
    sums_[point].running += length * static_cast<double>(levels.running);
    sums_[point].waiting += length * static_cast<double>(levels.waiting);
    time_ = std::min(end, now);
  }
}

void Series::double_interval() {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const Sum sum = sums_[i];
    if (i % 2 == 0) {
      sums_[i / 2] = sum;
    } else {
      sums_[i / 2].milli += sum.milli;
      sums_[i / 2].running += sum.running;
      sums_[i / 2].waiting += sum.waiting;
    }
  }
  sums_.resize((sums_.size() + 1) / 2);
  interval_ *= 2;
}

std::vector<SeriesPoint> Series::points() const {
  std::vector<SeriesPoint> points;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const Micros from = start_ + static_cast<Micros>(i) * interval_;
    const auto length = static_cast<double>(std::min(interval_, time_ - from));
    points.push_back({.from = from,
                      .gpus = sums_[i].milli / length / 1000.0,
                      .running = sums_[i].running / length,
                      .waiting = sums_[i].waiting / length});
  }
  return points;
}

}  // namespace berth::sim
