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

PrimalDualPoint starting_point(const LinearProgram& lp) {
  PrimalDualPoint p;
  std::vector<double> load(lp.rows(), 0.0);
  for (std::size_t k = 0; k < lp.row.size(); ++k) {
    if (lp.coefficient[k] > 0.0) load[static_cast<std::size_t>(lp.row[k])] += 1.0;
  }
  double largest = 1e-6;
  for (const double v : lp.value) largest = std::max(largest, std::abs(v));
  p.x.assign(lp.columns(), lp.max_sum);
  double price = 1e-3 * largest;
  for (std::size_t j = 0; j < lp.columns(); ++j) {
    double positive = 0.0;
    for (std::size_t k = lp.start[j]; k < lp.start[j + 1]; ++k) {
      const auto i = static_cast<std::size_t>(lp.row[k]);
      const double a = lp.coefficient[k];
      if (a <= 0.0) continue;
      positive += a;
      p.x[j] = std::min(p.x[j], 0.9 * lp.rhs[i] / (a * load[i]));
    }
    p.x[j] = std::max(p.x[j], 1e-6 * lp.max_sum);
    if (positive > 0.0) price = std::max(price, (lp.value[j] + 0.1 * largest) / positive);
  }
  p.price.assign(lp.rows(), price);
  p.reduced.resize(lp.columns());
  p.slack = lp.rhs;
  for (std::size_t j = 0; j < lp.columns(); ++j) {
    p.reduced[j] = std::max(lp.cost(j, p.price) - lp.value[j], 0.1 * largest);
    for (std::size_t k = lp.start[j]; k < lp.start[j + 1]; ++k) {
      p.slack[static_cast<std::size_t>(lp.row[k])] -= lp.coefficient[k] * p.x[j];
    }
  }
  for (std::size_t i = 0; i < lp.rows(); ++i) {
    p.slack[i] = std::max(p.slack[i], std::max(0.05 * lp.rhs[i], 1e-6 * lp.max_sum));
  }
  return p;
}

}  // namespace berth::solver
