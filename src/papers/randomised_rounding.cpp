// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/randomised_rounding.hpp"

#include <cmath>

#include "berth/base/assert.hpp"
#include "berth/base/random.hpp"

namespace berth::papers {
namespace {

constexpr double kWholeTolerance = 1e-9;  ///< numerical guard: what an inexact program leaves

/// Half of c in G^2 - (2 + c) G + 1 = 0.
double half_excess(double factor, double width, const RoundingRisk& risk) {
  BERTH_EXPECT(width > 0.0 && risk.delta > 0.0 && risk.delta <= 1.0 && risk.rows >= 1.0);
  return factor * std::log(risk.bad_events * risk.rows / risk.delta) / (2.0 * width);
}

}  // namespace

double packing_gain(double width, const RoundingRisk& risk) {
  const double h = half_excess(3.0, width, risk);
  return 1.0 / (1.0 + h + std::sqrt(h * h + 2.0 * h));  // the roots' product is 1
}

double covering_gain(double width, const RoundingRisk& risk) {
  const double h = half_excess(2.0, width, risk);
  return 1.0 + h + std::sqrt(h * h + 2.0 * h);
}

std::vector<std::int64_t> round_once(std::span<const double> x, std::uint64_t seed,
                                     std::uint64_t attempt) {
  std::vector<std::int64_t> rounded(x.size());
  for (std::size_t j = 0; j < x.size(); ++j) {
    const double down = std::floor(x[j] + kWholeTolerance);
    const bool up = x[j] - down > kWholeTolerance && random_unit({seed, attempt, j}) < x[j] - down;
    rounded[j] = static_cast<std::int64_t>(down) + (up ? 1 : 0);
  }
  return rounded;
}

std::optional<std::vector<std::int64_t>> round_until(
    std::span<const double> x, const RoundingTries& tries,
    const std::function<bool(std::span<const std::int64_t>)>& accept) {
  std::vector<double> scaled(x.begin(), x.end());
  for (double& v : scaled) v *= tries.gain;
  for (std::uint64_t attempt = 0; attempt < tries.most; ++attempt) {
    std::vector<std::int64_t> rounded = round_once(scaled, tries.seed, attempt);
    if (accept(rounded)) return rounded;
  }
  return std::nullopt;
}

}  // namespace berth::papers
