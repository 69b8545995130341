// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

/// Value of training that is not finished: loss by iterations (SLAQ; Zhang, Stafman, Or and
/// Freedman, SoCC 2017) and utility of accumulated work (GADGET; Yu, Ji, Rajan and Liu, INFOCOM
/// 2022).
namespace berth::speed {

/// Families of loss curves by iteration k.
enum class LossFamily {
  sublinear,  ///< 1 / (a k^2 + b k + c) + d: first-order methods; a, b >= 0, c > 0
  linear,     ///< a^(k - b) + c: quasi-Newton methods; 0 < a < 1
};

struct LossCurve {
  LossFamily family = LossFamily::sublinear;
  double a = 0.0, b = 0.0, c = 1.0, d = 0.0;

  [[nodiscard]] double loss(double iterations) const;
  /// Loss after arbitrarily many iterations.
  [[nodiscard]] double limit() const;
  /// Part of the loss above the limit that is left after k iterations: 1 at 0, never rises.
  [[nodiscard]] double normalised(double iterations) const;
  /// Iterations until this part is left, 0 < part <= 1; infinite when the curve is flat. Found by
  /// bisection to a relative 1e-12.
  [[nodiscard]] double iterations_until(double part) const;
  /// What SLAQ's greedy divides cores by: normalised loss now less that after more iterations.
  [[nodiscard]] double gain(double iterations, double more) const {
    return normalised(iterations) - normalised(iterations + more);
  }
};

/// Time utility of PD-ORS and SMD: c1 / (1 + exp(c2 (seconds - c3))); exponents are clamped to
/// [-700, 700].
[[nodiscard]] double sigmoid_of_time(double c1, double c2, double c3, double seconds);

/// GADGET's utility of accumulated work z: c1 / (1 + exp(-c2 (z - c3))).
[[nodiscard]] double sigmoid_of_work(double c1, double c2, double c3, double work);

}  // namespace berth::speed
