// SPDX-License-Identifier: Apache-2.0
#include "horizon/price_search.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "berth/solver/blmvm.hpp"

namespace berth::solver::horizon_plan {
namespace {

/// Prices above this multiple of the largest start price are never optimal in practice; a box.
constexpr double kPriceBox = 1e3;
/// A temperature ends when this many iterations gain less than this share of the value: of the
/// dual, or, with an expected decrease, of what is left of it.
constexpr int kPatience = 8;
constexpr double kLeastGain = 1e-6;

/// The dual over x = ends x scale, and its value at the start.
class ScaledDual {
 public:
  ScaledDual(const SmoothedDual& dual, double temperature, EndPrices& ends)
      : dual_(dual), temperature_(temperature), ends_(ends), scale_(ends.size()) {
    const auto capacity = dual.capacity();
    double mean = 0.0;
    for (const double c : capacity) mean += c / static_cast<double>(capacity.size());
    for (std::size_t i = 0; i < scale_.size(); ++i) {
      scale_[i] = std::sqrt(std::max(capacity[i] / mean, 1e-6));
    }
  }

  /// Chooses the common factor of the scale and the zero of values for a search that starts here.
  /// PETSc takes |value| for the decrease to come and the gradient for the direction: with values
  /// measured from half the decrease below the start, and a gradient whose square is the decrease,
  /// its first step would bring that decrease if the dual were linear.
  void expect_decrease(double decrease) {
    start_gradient_.resize(ends_.size());
    start_value_ = dual_.evaluate(ends_, temperature_, start_gradient_);
    double square = 0.0;
    for (std::size_t i = 0; i < scale_.size(); ++i) {
      const double slope = start_gradient_[i] / scale_[i];
      if (ends_[i] > 0.0 || slope < 0.0) square += slope * slope;
    }
    if (square <= 0.0) return;
    for (double& s : scale_) s *= std::sqrt(square / decrease);
    zero_ = *start_value_ - 0.5 * decrease;
  }

  double evaluate(std::span<const double> x, std::span<double> gradient) {
    for (std::size_t i = 0; i < x.size(); ++i) ends_[i] = std::max(0.0, x[i] / scale_[i]);
    double value = 0.0;
    if (start_value_) {  // a search begins at the start
      value = *start_value_;
      std::ranges::copy(start_gradient_, gradient.begin());
      start_value_.reset();
    } else {
      value = dual_.evaluate(ends_, temperature_, gradient);
    }
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] /= scale_[i];
    return value - zero_;
  }

  [[nodiscard]] std::span<const double> scale() const { return scale_; }

 private:
  const SmoothedDual& dual_;
  double temperature_;
  EndPrices& ends_;
  std::vector<double> scale_;
  double zero_ = 0.0;                  ///< of the values that `evaluate` returns
  std::optional<double> start_value_;  ///< until it was asked for
  std::vector<double> start_gradient_;
};

}  // namespace

int minimise_at(const SmoothedDual& dual, double temperature, EndPrices& ends,
                const SearchLength& length, const StopToken& stop) {
  ScaledDual scaled(dual, temperature, ends);
  if (length.expected_decrease > 0.0) scaled.expect_decrease(length.expected_decrease);
  const double largest = ends.empty() ? 0.0 : std::max(0.0, std::ranges::max(ends));
  std::vector<double> x(ends.size()), upper(ends.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = ends[i] * scaled.scale()[i];
    upper[i] = kPriceBox * std::max(largest, 1e-9) * scaled.scale()[i];
  }
  const auto evaluate = [&](std::span<const double> at, std::span<double> gradient) {
    return scaled.evaluate(at, gradient);
  };
  const BlmvmResult found = minimise(x, upper, evaluate,
                                     {.max_iterations = length.iterations,
                                      .memory = length.memory,
                                      .patience = kPatience,
                                      .least_gain = kLeastGain},
                                     stop);
  for (std::size_t i = 0; i < x.size(); ++i) ends[i] = std::max(0.0, x[i] / scaled.scale()[i]);
  return found.evaluations;
}

}  // namespace berth::solver::horizon_plan
