// SPDX-License-Identifier: Apache-2.0
#include "berth/policy/history.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "berth/base/assert.hpp"

namespace berth::policy {
namespace {

/// min over sample d of E[min(X, d) - age] / P(X <= d), given X > age.
double least_time_per_completion(std::span<const Micros> beyond, Micros age) {
  const auto count = static_cast<double>(beyond.size());
  double least = std::numeric_limits<double>::infinity();
  double ended = 0.0, sum = 0.0;
  for (const Micros sample : beyond) {
    const auto quantum = static_cast<double>(sample - age);
    ended += 1.0;
    sum += quantum;
    least = std::min(least, (sum + (count - ended) * quantum) / ended);
  }
  return least;
}

double mean_left(std::span<const Micros> beyond, Micros age) {
  double sum = 0.0;
  for (const Micros sample : beyond) sum += static_cast<double>(sample - age);
  return sum / static_cast<double>(beyond.size());
}

Micros quantile_left(std::span<const Micros> beyond, Micros age, std::size_t percent) {
  const std::size_t rank = (beyond.size() * percent + 99) / 100;
  return beyond[rank - 1] - age;
}

std::size_t count_beyond(const std::vector<Micros>& sorted, Micros age) {
  return static_cast<std::size_t>(sorted.end() - std::ranges::upper_bound(sorted, age));
}

}  // namespace

Micros residual(const std::vector<Micros>& samples, Micros age, Residual kind) {
  const std::size_t count = count_beyond(samples, age);
  BERTH_EXPECT(count > 0);
  const auto beyond = std::span(samples).last(count);
  switch (kind) {
    case Residual::gittins:
      return std::max<Micros>(1, std::llround(least_time_per_completion(beyond, age)));
    case Residual::mean:
      return std::max<Micros>(1, std::llround(mean_left(beyond, age)));
    case Residual::median:
      return quantile_left(beyond, age, 50);
    case Residual::p90:
      return quantile_left(beyond, age, 90);
  }
  return 1;
}

void History::Samples::add(Micros work) {
  if (latest.size() == kWindow) {
    sorted.erase(std::ranges::lower_bound(sorted, latest.front()));
    latest.pop_front();
  }
  latest.push_back(work);
  sorted.insert(std::ranges::upper_bound(sorted, work), work);
}

void History::add(QueueId queue, std::int64_t milli, Micros work) {
  by_queue_[{queue.value(), milli}].add(work);
  by_milli_[milli].add(work);
  all_.add(work);
}

Micros History::remaining(QueueId queue, std::int64_t milli, Micros age) const {
  const auto known = [&](const Samples& samples) {
    return count_beyond(samples.sorted, age) >= kLeast;
  };
  const auto same_queue = by_queue_.find({queue.value(), milli});
  if (same_queue != by_queue_.end() && known(same_queue->second)) {
    return residual(same_queue->second.sorted, age, kind_);
  }
  const auto same_size = by_milli_.find(milli);
  if (same_size != by_milli_.end() && known(same_size->second)) {
    return residual(same_size->second.sorted, age, kind_);
  }
  if (known(all_)) return residual(all_.sorted, age, kind_);
  return all_.sorted.empty() ? std::max(kUnknown - age, kShortest) : std::max(age, kShortest);
}

}  // namespace berth::policy
