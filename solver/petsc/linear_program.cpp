// SPDX-License-Identifier: Apache-2.0
#include "linear_program.hpp"

#include <algorithm>
#include <cmath>

namespace berth::solver {

void LinearProgram::add_column(double worth,
                               std::span<const std::pair<std::int32_t, double>> entries) {
  for (const auto& [r, a] : entries) {
    row.push_back(r);
    coefficient.push_back(a);
  }
  start.push_back(row.size());
  value.push_back(worth);
}

namespace {

// Margins that keep a starting point interior and of the size of the data; chosen, not tuned.
constexpr double kLeastValue = 1e-6;   ///< absolute: lower limit of the largest |value|
constexpr double kLeastAmount = 1e-6;  ///< of x and slack, as a share of max_sum
constexpr double kLeastPrice = 1e-3;   ///< as a share of the largest |value|
constexpr double kLeastReduced = 0.1;  ///< as a share of the largest |value|
constexpr double kLeastSlack = 0.05;   ///< as a share of the rhs
constexpr double kFilledShare = 0.9;   ///< of a row's rhs, divided among its columns

}  // namespace

PrimalDualPoint starting_point(const LinearProgram& lp) {
  PrimalDualPoint p;
  std::vector<double> load(lp.rows(), 0.0);
  for (std::size_t k = 0; k < lp.row.size(); ++k) {
    if (lp.coefficient[k] > 0.0) load[static_cast<std::size_t>(lp.row[k])] += 1.0;
  }
  double largest = kLeastValue;
  for (const double v : lp.value) largest = std::max(largest, std::abs(v));
  p.x.assign(lp.columns(), lp.max_sum);
  double price = kLeastPrice * largest;
  for (std::size_t j = 0; j < lp.columns(); ++j) {
    double positive = 0.0;
    for (std::size_t k = lp.start[j]; k < lp.start[j + 1]; ++k) {
      const auto i = static_cast<std::size_t>(lp.row[k]);
      const double a = lp.coefficient[k];
      if (a <= 0.0) continue;
      positive += a;
      p.x[j] = std::min(p.x[j], kFilledShare * lp.rhs[i] / (a * load[i]));
    }
    p.x[j] = std::max(p.x[j], kLeastAmount * lp.max_sum);
    if (positive > 0.0) price = std::max(price, (lp.value[j] + kLeastReduced * largest) / positive);
  }
  p.price.assign(lp.rows(), price);
  p.reduced.resize(lp.columns());
  p.slack = lp.rhs;
  for (std::size_t j = 0; j < lp.columns(); ++j) {
    p.reduced[j] = std::max(lp.cost(j, p.price) - lp.value[j], kLeastReduced * largest);
    for (std::size_t k = lp.start[j]; k < lp.start[j + 1]; ++k) {
      p.slack[static_cast<std::size_t>(lp.row[k])] -= lp.coefficient[k] * p.x[j];
    }
  }
  for (std::size_t i = 0; i < lp.rows(); ++i) {
    p.slack[i] = std::max(p.slack[i], std::max(kLeastSlack * lp.rhs[i], kLeastAmount * lp.max_sum));
  }
  return p;
}

}  // namespace berth::solver
