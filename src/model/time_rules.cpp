// SPDX-License-Identifier: Apache-2.0
#include "berth/model/time_rules.hpp"

#include <cstddef>

namespace berth::model {

double factor_after(const Utility& utility, double seconds) {
  const auto& points = utility.points;
  if (points.empty()) return 1.0;
  std::size_t next = 1;
  while (next < points.size() && static_cast<double>(points[next].seconds) < seconds) ++next;
  const UtilityPoint& from = points[next - 1];
  if (utility.steps || next == points.size()) return from.factor;
  const double part = (seconds - static_cast<double>(from.seconds)) /
                      static_cast<double>(points[next].seconds - from.seconds);
  return from.factor + part * (points[next].factor - from.factor);
}

}  // namespace berth::model
