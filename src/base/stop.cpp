// SPDX-License-Identifier: Apache-2.0
#include "berth/base/stop.hpp"

#include <algorithm>

namespace berth {

StopSource::Clock::time_point StopSource::in_seconds(double seconds) {
  constexpr double kLongest = 1e9;  // 31 years
  if (!(seconds < kLongest)) return kNever;
  const std::chrono::duration<double> wait(std::max(seconds, 0.0));
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(wait);
}

/// True when `patience` has passed since the first call.
bool StopSource::waited_long(Clock::duration patience) const {
  const Clock::rep now = Clock::now().time_since_epoch().count();
  Clock::rep first = 0;
  if (since_.compare_exchange_strong(first, now)) return false;
  return now - first >= patience.count();
}

bool StopSource::requested(Clock::time_point deadline, Clock::duration patience) const {
  bool stop = signalled_ != nullptr && *signalled_ != 0;
  stop = stop || (deadline != kNever && Clock::now() >= deadline);
  if (watch_) stop = watch_(questions_.fetch_add(1, std::memory_order_relaxed)) || stop;
  if (stop && patience.count() > 0) stop = waited_long(patience);
  if (stop) cut_.store(true, std::memory_order_relaxed);
  return stop;
}

StopToken StopToken::share_of(std::int64_t pieces) const {
  StopToken token = *this;
  if (deadline_ == StopSource::kNever) return token;
  const auto left = deadline_ - StopSource::Clock::now();
  token.deadline_ = deadline_ - left + left / std::max<std::int64_t>(1, pieces);
  return token;
}

}  // namespace berth
