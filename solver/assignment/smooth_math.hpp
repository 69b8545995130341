// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

/// exp and log for softmax sums, made of additions, multiplications and one division in a fixed
/// order: equal bits on every machine, which libraries that select code by processor do not ensure.
/// Compilers vectorise loops over them.
namespace berth::solver::assignment {

/// Exponents below -kNegligibleExponent are left out of softmax sums: exp(-20) = 2e-9. Decision 12.
constexpr double kNegligibleExponent = 20.0;

/// Polynomial by Horner's rule; coefficients by descending power.
template <class... Rest>
constexpr double polynomial(double x, double highest, Rest... rest) {
  double sum = highest;
  ((sum = sum * x + rest), ...);
  return sum;
}

/// e^x for -700 < x <= 0, relative error 1e-14: x = k ln 2 + r, Taylor polynomial of degree 11 in
/// r.
inline double exp_of(double x) {
  constexpr double kRound = 0x1.8p52;  // adding 1.5 x 2^52 rounds to a whole number
  // ln 2 = high + low; k x high is exact (Cody and Waite 1980)
  constexpr double kLn2High = 0x1.62e42fefa3800p-1, kLn2Low = 0x1.ef35793c76730p-45;
  const double rounded = x * 0x1.71547652b82fep+0 + kRound;
  const double k = rounded - kRound;
  const double r = (x - k * kLn2High) - k * kLn2Low;  // |r| <= ln 2 / 2
  const double sum =
      polynomial(r, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0, 1.0 / 5040.0,
                 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0);
  const std::uint64_t power = (std::bit_cast<std::uint64_t>(rounded) << 52) + (1023ULL << 52);
  return sum * std::bit_cast<double>(power);
}

/// ln y for 1 <= y < 2^1000, error 1e-15; exactly 0 for 1: y = 2^k m, series of
/// artanh((m - 1) / (m + 1)).
inline double log_of(double y) {
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e667f3bcdULL;  // bits of sqrt(1/2)
  const auto bits = std::bit_cast<std::uint64_t>(y);
  const std::uint64_t exponent = (bits - kRootHalf) >> 52;
  const auto m = std::bit_cast<double>(bits - (exponent << 52));  // from root 1/2 to root 2
  const double k = std::bit_cast<double>(exponent | 0x4330000000000000ULL) - 0x1p52;
  const double f = m - 1.0;
  const double q = f / (2.0 + f);
  const double z = q * q;
  const double sum = polynomial(z, 1.0 / 19.0, 1.0 / 17.0, 1.0 / 15.0, 1.0 / 13.0, 1.0 / 11.0,
                                1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0, 1.0);
  return k * 0x1.62e42fefa39efp-1 + 2.0 * q * sum;
}

}  // namespace berth::solver::assignment
