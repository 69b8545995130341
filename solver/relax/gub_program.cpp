// SPDX-License-Identifier: Apache-2.0
#include "gub_program.hpp"

#include <algorithm>
#include <limits>

namespace berth::solver {
namespace {

/// Steps of Newton's method for the price of a group: it converges monotonically from below.
constexpr int kNewtonSteps = 12;

/// The price l of a group with sum_k mu / (l - r_k) + mu / l = limit, l > max(0, r_k).
double central_price(std::span<const double> profit, double limit, double mu) {
  double largest = 0.0;
  for (const double r : profit) largest = std::max(largest, r);
  double price = largest + mu / limit;
  for (int step = 0; step < kNewtonSteps; ++step) {
    double sum = mu / price - limit;
    double slope = mu / (price * price);
    for (const double r : profit) {
      sum += mu / (price - r);
      slope += mu / ((price - r) * (price - r));
    }
    if (sum <= 1e-9 * limit) break;
    price += sum / slope;
  }
  return price;
}

}  // namespace

void GubProgram::end_group(double group_limit) {
  limit.push_back(group_limit);
  first_column.push_back(value.size());
}

void GubProgram::add_column(double worth,
                            std::span<const std::pair<std::int32_t, double>> entries) {
  value.push_back(worth);
  for (const auto& [i, a] : entries) {
    row.push_back(i);
    coefficient.push_back(a);
  }
  first_entry.push_back(row.size());
}

GubPoint central_point(const GubProgram& program, std::span<const double> price, double mu) {
  GubPoint point;
  point.price.assign(price.begin(), price.end());
  for (const double y : price) point.slack.push_back(mu / y);
  point.x.resize(program.columns());
  point.reduced.resize(program.columns());
  std::vector<double> profit;
  for (std::size_t g = 0; g < program.groups(); ++g) {
    profit.clear();
    for (std::size_t j = program.first_column[g]; j < program.first_column[g + 1]; ++j) {
      profit.push_back(program.value[j] - program.cost(j, price));
    }
    const double earned = central_price(profit, program.limit[g], mu);
    point.earned.push_back(earned);
    point.unused.push_back(mu / earned);
    for (std::size_t k = 0; k < profit.size(); ++k) {
      const std::size_t j = program.first_column[g] + k;
      point.reduced[j] = earned - profit[k];
      point.x[j] = mu / point.reduced[j];
    }
  }
  return point;
}

}  // namespace berth::solver
