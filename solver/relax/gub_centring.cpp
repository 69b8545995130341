// SPDX-License-Identifier: Apache-2.0
#include "gub_interior_point.hpp"
#include "gub_normal_equations.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace berth::solver {
namespace {

/// Newton decrement, in the barrier's own norm, below which a point counts as central; Newton's
/// method converges quadratically there (Nesterov and Nemirovskii 1994).
constexpr double kCentral = 0.5;
constexpr double kArmijo = 0.1;    ///< part of the predicted decrease that a step must reach
constexpr double kBoundary = 0.9;  ///< of the step to the boundary of positive prices
constexpr int kHalvings = 20;      ///< most halvings of a step; untuned guard

double barrier(const GubProgram& program, const GubPoint& point, double mu) {
  double worth = 0.0;
  double logs = 0.0;
  for (const double y : point.price) logs += std::log(y);
  for (std::size_t g = 0; g < program.groups(); ++g) {
    worth += program.limit[g] * point.earned[g];
    logs += std::log(point.earned[g]);
  }
  for (const double z : point.reduced) logs += std::log(z);
  return worth - mu * logs;
}

/// Violation of the rows at a point whose groups are central: the barrier's gradient.
std::vector<double> row_residual(const GubProgram& program, const GubPoint& point) {
  std::vector<double> residual;
  for (const double s : point.slack) residual.push_back(-s);
  for (std::size_t j = 0; j < program.columns(); ++j) {
    for (std::size_t k = program.first_entry[j]; k < program.first_entry[j + 1]; ++k) {
      residual[static_cast<std::size_t>(program.row[k])] -= program.coefficient[k] * point.x[j];
    }
  }
  return residual;
}

}  // namespace

CentredPoint centred_point(const GubProgram& program, std::vector<double> price, double mu,
                           int most, const StopToken& stop) {
  GubPoint point = central_point(program, price, mu);
  GubNormalEquations equations(program);
  double now = barrier(program, point, mu);
  int steps = 0;
  for (; steps < most && !stop.requested(); ++steps) {
    const std::vector<double> gradient = row_residual(program, point);
    if (!equations.factor(point)) break;
    std::vector<double> d;
    for (const double r : gradient) d.push_back(-r);
    if (!equations.solve(d)) break;
    double slope = 0.0;
    double length = 1.0;
    for (std::size_t i = 0; i < d.size(); ++i) {
      slope += gradient[i] * d[i];
      if (d[i] < 0.0) length = std::min(length, -kBoundary * point.price[i] / d[i]);
    }
    if (-slope <= kCentral * kCentral * mu) break;
    bool lower = false;
    for (int halving = 0; halving < kHalvings && !lower; ++halving, length *= 0.5) {
      for (std::size_t i = 0; i < d.size(); ++i) price[i] = point.price[i] + length * d[i];
      GubPoint next = central_point(program, price, mu);
      const double value = barrier(program, next, mu);
      if (value > now + kArmijo * length * slope) continue;
      lower = true;
      now = value;
      point = std::move(next);
    }
    if (!lower) break;
  }
  return {std::move(point), steps};
}

}  // namespace berth::solver
