// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <initializer_list>
#include <stdexcept>
#include <string>

namespace berth::speed {

/// Refuses parameters of a model: `divisors` are above 0, `amounts` 0 or more, all finite.
/// @throws std::invalid_argument naming the model
inline void check_amounts(const char* model, std::initializer_list<double> divisors,
                          std::initializer_list<double> amounts) {
  bool sound = true;
  for (const double x : divisors) sound = sound && std::isfinite(x) && x > 0.0;
  for (const double x : amounts) sound = sound && std::isfinite(x) && x >= 0.0;
  if (!sound) {
    throw std::invalid_argument(std::string(model) +
                                ": a parameter is negative, 0 where it "
                                "divides, or not finite");
  }
}

}  // namespace berth::speed
