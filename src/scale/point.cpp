// SPDX-License-Identifier: Apache-2.0
#include "berth/scale/point.hpp"

#include <algorithm>

namespace berth::scale {

double StageShares::slowest() const {
  double most = 0.0;
  for (const RankShare& r : ranks) most = std::max(most, r.work);
  return most;
}

double StageShares::total() const {
  double sum = 0.0;
  for (const RankShare& r : ranks) sum += r.work;
  return sum;
}

double StageShares::imbalance() const {
  const double sum = total();
  return sum > 0.0 ? slowest() * static_cast<double>(ranks.size()) / sum : 0.0;
}

std::int64_t ScalingPoint::messages() const {
  std::int64_t sum = 0;
  for (const CallCount& c : calls) sum += c.messages;
  return sum;
}

std::int64_t ScalingPoint::bytes() const {
  std::int64_t sum = 0;
  for (const CallCount& c : calls) sum += c.bytes;
  return sum;
}

double ScalingPoint::largest_memory() const {
  return peak_memory_mib.empty() ? 0.0 : *std::ranges::max_element(peak_memory_mib);
}

double ScalingPoint::largest_cpu() const {
  return cpu_seconds.empty() ? 0.0 : *std::ranges::max_element(cpu_seconds);
}

}  // namespace berth::scale
