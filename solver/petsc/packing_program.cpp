// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/packing_program.hpp"

#include "interior_point.hpp"
#include "linear_program.hpp"

#include <algorithm>
#include <limits>

#include "berth/base/assert.hpp"

namespace berth::solver {
namespace {

/// Largest sum of x: each column alone can be no larger than its tightest row allows.
double largest_sum(const PackingProgram& program) {
  double sum = 1.0;
  for (const PackingProgram::Column& column : program.columns) {
    double most = std::numeric_limits<double>::infinity();
    for (const auto& [row, amount] : column.entries)
      most = std::min(most, program.rhs[static_cast<std::size_t>(row)] / amount);
    sum += most;
  }
  return sum;
}

/// Scales x into the rows: the method ends a tolerance away from them.
void make_feasible(const PackingProgram& program, std::vector<double>& x) {
  std::vector<double> load(program.rhs.size(), 0.0);
  for (std::size_t j = 0; j < x.size(); ++j) {
    for (const auto& [row, amount] : program.columns[j].entries)
      load[static_cast<std::size_t>(row)] += amount * x[j];
  }
  double scale = 1.0;
  for (std::size_t i = 0; i < load.size(); ++i) {
    if (load[i] > program.rhs[i]) scale = std::min(scale, program.rhs[i] / load[i]);
  }
  for (double& amount : x) amount *= scale;
}

}  // namespace

PackingSolution solve(const PackingProgram& program, double tolerance) {
  LinearProgram lp;
  lp.rhs = program.rhs;
  for (const PackingProgram::Column& column : program.columns) {
    BERTH_EXPECT(!column.entries.empty());
    lp.add_column(column.value, column.entries);
  }
  lp.max_sum = largest_sum(program);
  PrimalDualPoint point = starting_point(lp);
  const InteriorPointResult result = solve(lp, point, {.tolerance = tolerance});
  PackingSolution solution{.x = std::move(point.x), .price = std::move(point.price)};
  solution.optimal = result.status == SolveStatus::optimal;
  make_feasible(program, solution.x);
  for (std::size_t j = 0; j < solution.x.size(); ++j)
    solution.value += program.columns[j].value * solution.x[j];
  for (double& p : solution.price) p = std::max(p, 0.0);
  return solution;
}

}  // namespace berth::solver
