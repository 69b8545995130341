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
/// A temperature ends when this many iterations gain less than this share of the dual.
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

  /// The first step of a search has the length of the gradient, and gains the square of that if the
  /// dual is linear so far: the scale is such that this is `fall`. Values are differences to the
  /// middle between the start and a dual that fell so far, as PETSc takes |value| for what there is
  /// to gain.
  void expect(double fall) {
    start_gradient_.resize(ends_.size());
    start_value_ = dual_.evaluate(ends_, temperature_, start_gradient_);
    double square = 0.0;
    for (std::size_t i = 0; i < scale_.size(); ++i) {
      const double slope = start_gradient_[i] / scale_[i];
      if (ends_[i] > 0.0 || slope < 0.0) square += slope * slope;
    }
    if (square <= 0.0) return;
    for (double& s : scale_) s *= std::sqrt(square / fall);
    middle_ = *start_value_ - 0.5 * fall;
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
    return value - middle_;
  }

  [[nodiscard]] std::span<const double> scale() const { return scale_; }

 private:
  const SmoothedDual& dual_;
  double temperature_;
  EndPrices& ends_;
  std::vector<double> scale_;
  double middle_ = 0.0;
  std::optional<double> start_value_;  ///< until it was asked for
  std::vector<double> start_gradient_;
};

}  // namespace

int minimise_at(const SmoothedDual& dual, double temperature, EndPrices& ends,
                const SearchLength& length, const StopToken& stop) {
  ScaledDual scaled(dual, temperature, ends);
  if (length.fall > 0.0) scaled.expect(length.fall);
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
