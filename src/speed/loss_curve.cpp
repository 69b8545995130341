// SPDX-License-Identifier: Apache-2.0
#include "berth/speed/loss_curve.hpp"

#include <algorithm>
#include <cmath>

namespace berth::speed {
namespace {

constexpr double kMaxExponent = 700.0;  // exp overflows beyond 709

double logistic(double exponent) {
  return 1.0 / (1.0 + std::exp(std::clamp(exponent, -kMaxExponent, kMaxExponent)));
}

}  // namespace

double LossCurve::loss(double iterations) const {
  if (family == LossFamily::linear) return std::pow(a, iterations - b) + c;
  return 1.0 / ((a * iterations + b) * iterations + c) + d;
}

double LossCurve::limit() const {
  if (family == LossFamily::linear) return c;
  return a == 0.0 && b == 0.0 ? 1.0 / c + d : d;
}

double LossCurve::normalised(double iterations) const {
  const double above = loss(0.0) - limit();
  return above == 0.0 ? 0.0 : (loss(iterations) - limit()) / above;
}

double LossCurve::iterations_until(double part) const {
  constexpr int kMaxSteps = 1100;       // more than doubles have exponents
  constexpr double kTolerance = 1e-12;  // relative
  if (normalised(0.0) <= part) return 0.0;
  double high = 1.0;
  for (int i = 0; i < kMaxSteps && normalised(high) > part; ++i) high *= 2.0;
  if (!std::isfinite(high)) return high;
  double low = 0.0;
  while (high - low > kTolerance * high) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (normalised(middle) > part ? low : high) = middle;
  }
  return high;
}

double sigmoid_of_time(double c1, double c2, double c3, double seconds) {
  return c1 * logistic(c2 * (seconds - c3));
}

double sigmoid_of_work(double c1, double c2, double c3, double work) {
  return c1 * logistic(-c2 * (work - c3));
}

}  // namespace berth::speed
