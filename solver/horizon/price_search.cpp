// SPDX-License-Identifier: Apache-2.0
#include "horizon/price_search.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "berth/solver/blmvm.hpp"

namespace berth::solver::horizon_plan {
namespace {

/// Prices above this multiple of the largest start price are never optimal in practice; a box.
constexpr double kPriceBox = 1e3;
/// A temperature ends when this many iterations gain less than this share of the dual.
constexpr int kPatience = 8;
constexpr double kLeastGain = 1e-6;

}  // namespace

int minimise_at(const SmoothedDual& dual, double temperature, EndPrices& ends,
                const SearchLength& length, const StopToken& stop) {
  const auto capacity = dual.capacity();
  double mean = 0.0, largest = 0.0;
  for (const double c : capacity) mean += c / static_cast<double>(capacity.size());
  for (const double e : ends) largest = std::max(largest, e);
  std::vector<double> scale(capacity.size()), x(capacity.size()), upper(capacity.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    scale[i] = std::sqrt(std::max(capacity[i] / mean, 1e-6));
    x[i] = ends[i] * scale[i];
    upper[i] = kPriceBox * std::max(largest, 1e-9) * scale[i];
  }
  const auto evaluate = [&](std::span<const double> at, std::span<double> gradient) {
    for (std::size_t i = 0; i < at.size(); ++i) ends[i] = std::max(0.0, at[i] / scale[i]);
    const double value = dual.evaluate(ends, temperature, gradient);
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] /= scale[i];
    return value;
  };
  const BlmvmResult found = minimise(x, upper, evaluate,
                                     {.max_iterations = length.iterations,
                                      .memory = length.memory,
                                      .patience = kPatience,
                                      .least_gain = kLeastGain},
                                     stop);
  for (std::size_t i = 0; i < x.size(); ++i) ends[i] = std::max(0.0, x[i] / scale[i]);
  return found.evaluations;
}

}  // namespace berth::solver::horizon_plan
