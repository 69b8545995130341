// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "berth/base/assert.hpp"
#include "berth/base/random.hpp"
#include "berth/papers/beta_progress.hpp"

namespace berth::papers {
namespace {

/// Uniform in (0, 1].
double draw_unit(const std::array<std::uint64_t, 3>& key, std::uint64_t number) {
  return 1.0 - random_unit({key[0], key[1], key[2], number});
}

/// A draw of Gamma(shape, 1) by rejection (Marsaglia and Tsang, ACM TOMS 26, 2000).
/// @param part  0 or 1: two independent draws of one key
double draw_gamma(double shape, const std::array<std::uint64_t, 3>& key, std::uint64_t part) {
  constexpr std::uint64_t kDraws =
      4;  // of a trial: two of the normal one, one to accept, the power
  const double raised = shape < 1.0 ? shape + 1.0 : shape;
  const double d = raised - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
  for (std::uint64_t trial = 0;; ++trial) {
    const std::array<std::uint64_t, 3> of{key[0], key[1], mix64(key[2]) + part};
    const double x = draw_normal(of, kDraws / 2 * trial);
    const double v = std::pow(1.0 + c * x, 3.0);
    if (v <= 0.0) continue;
    const double accept = draw_unit(of, kDraws * trial + 2);
    if (std::log(accept) >= 0.5 * x * x + d - d * v + d * std::log(v)) continue;
    if (shape >= 1.0) return d * v;
    return d * v * std::pow(draw_unit(of, kDraws * trial + 3), 1.0 / shape);
  }
}

}  // namespace

double digamma(double x) {
  BERTH_EXPECT(x > 0.0);
  constexpr double kLarge = 8.0;
  double below = 0.0;
  for (; x < kLarge; x += 1.0) below += 1.0 / x;
  const double y = 1.0 / (x * x);
  const double tail =
      y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * 5.0 / 660))));
  return std::log(x) - 0.5 / x - tail - below;
}

double draw_normal(std::array<std::uint64_t, 3> key, std::uint64_t number) {
  const double radius = std::sqrt(-2.0 * std::log(draw_unit(key, 2 * number)));
  return radius * std::cos(2.0 * std::numbers::pi * draw_unit(key, 2 * number + 1));
}

double draw_beta(double alpha, double beta, std::array<std::uint64_t, 3> key) {
  BERTH_EXPECT(alpha > 0.0 && beta > 0.0);
  const double a = draw_gamma(alpha, key, 0), b = draw_gamma(beta, key, 1);
  constexpr double kLeast = std::numeric_limits<double>::epsilon();
  return std::clamp(a / (a + b), kLeast, 1.0 - kLeast);
}

}  // namespace berth::papers
