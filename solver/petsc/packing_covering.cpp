// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/packing_covering.hpp"

#include "../patterns/crossover.hpp"
#include "interior_point.hpp"
#include "normalised_program.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "berth/base/assert.hpp"

namespace berth::solver {
namespace {

// Numerical guards on programs with data near 1; chosen, not tuned.
constexpr double kTolerance = 1e-9;        ///< of the interior point method
constexpr double kShareTolerance = 1e-7;   ///< of covering rows
constexpr double kGap = 1e-6;              ///< of an answer that is called optimal
constexpr double kDropped = 1e-9;          ///< parts of a limit that count as 0
constexpr double kFirstShareValue = 10.0;  ///< times a lower bound of the cost
constexpr double kShareValueGrowth = 30.0;
constexpr int kShareValues = 5;

/// A vertex of the share program and the interior prices.
struct Vertex {
  std::vector<double> x;  ///< by column here, in parts of the limits
  double share = 1.0;
  std::vector<double> price;
};

/// Lowers the share until every covering row holds: the crossover starts from a feasible point.
void lower_share(const NormalisedProgram& n, std::vector<double>& x) {
  double& share = x.back();
  for (const auto& row : n.covering_row) {
    double sum = 0.0;
    for (const auto& [column, a] : row) sum += a * x[column];
    share = std::min(share, sum * (1.0 - 1e-12));
  }
}

/// The largest excess of a packing row divides x: they hold then.
void scale_into_rows(const NormalisedProgram& n, std::vector<double>& x) {
  double excess = 1.0;
  for (const auto& row : n.packing_row) {
    double sum = 0.0;
    for (const auto& [column, b] : row) sum += b * x[column];
    excess = std::max(excess, sum);
  }
  for (double& value : x) value /= excess;
}

Vertex solve_share(const NormalisedProgram& n, LinearProgram lp) {
  double scale = 0.0;
  for (const double v : lp.value) scale = std::max(scale, std::abs(v));
  if (scale > 0.0) {
    for (double& v : lp.value) v /= scale;
  }
  PrimalDualPoint point = starting_point(lp);
  solve(lp, point, {.tolerance = kTolerance});
  for (double& x : point.x) x = x < kDropped ? 0.0 : x;
  scale_into_rows(n, point.x);
  if (!n.covering_row.empty()) lower_share(n, point.x);
  Vertex vertex;
  vertex.x = crossover(lp, point.x, 0.0).x;
  if (!n.covering_row.empty()) {
    vertex.share = vertex.x.back();
    vertex.x.pop_back();
  }
  vertex.price = std::move(point.price);
  for (double& y : vertex.price) y = std::max(y, 0.0) * scale;
  return vertex;
}

/// Largest share that the prices allow when only the share has a value; all prices >= 0 prove one.
double proved_share(const NormalisedProgram& n, std::span<const double> price, double most) {
  std::vector<double> reduced(n.column.size(), 0.0);
  double unit = 0.0;  // what a unit of share pays to the covering rows
  double sum = 0.0;
  std::size_t row = 0;
  for (const auto& r : n.covering_row) {
    for (const auto& [column, a] : r) reduced[column] += a * price[row];
    unit += price[row++];
  }
  for (const auto& r : n.packing_row) {
    for (const auto& [column, b] : r) reduced[column] -= b * price[row];
    sum += price[row++];
  }
  for (const double r : reduced) sum += std::max(r, 0.0);
  return unit > 0.0 ? std::min(most, sum / unit) : most;
}

/// Prices per unit of the program's rows, and the bound that they prove with x <= limit.
void prove(const PackingCoveringProgram& program, const NormalisedProgram& n,
           std::span<const double> price, PackingCoveringSolution& solution) {
  std::vector<double>& covering = solution.covering_price;
  std::vector<double>& packing = solution.packing_price;
  covering.assign(program.covering().size(), 0.0);
  packing.assign(program.packing().size(), 0.0);
  for (std::size_t i = 0; i < n.covering.size(); ++i) {
    covering[n.covering[i]] = price[i] / program.covering()[n.covering[i]];
  }
  for (std::size_t i = 0; i < n.packing.size(); ++i) {
    const std::size_t row = n.packing[i];
    if (row >= NormalisedProgram::kUpper) continue;  // x <= limit counts anyway
    packing[row] = price[n.covering.size() + i] / program.packing()[row];
  }
  double bound = 0.0;
  for (std::size_t i = 0; i < covering.size(); ++i) bound += covering[i] * program.covering()[i];
  for (std::size_t i = 0; i < packing.size(); ++i) bound -= packing[i] * program.packing()[i];
  for (std::size_t j = 0; j < program.columns().size(); ++j) {
    const PackingCoveringProgram::Column& c = program.columns()[j];
    double reduced = c.cost;
    for (const auto& [row, a] : c.covering) reduced -= a * covering[row];
    for (const auto& [row, b] : c.packing) reduced += b * packing[row];
    bound += std::min(reduced, 0.0) * n.limit[j];
  }
  solution.bound = bound;
}

/// Least cost of one covering row alone, the largest of them.
double covering_cost(const PackingCoveringProgram& program, const NormalisedProgram& n) {
  double most = 0.0;
  for (const auto& row : n.covering_row) {
    double least = kInfinity;
    for (const auto& [k, a] : row) {
      const std::size_t j = n.column[k];
      least = std::min(least, std::max(program.columns()[j].cost, 0.0) * n.limit[j] / a);
    }
    most = std::max(most, least);
  }
  return most;
}

void write(const PackingCoveringProgram& program, const NormalisedProgram& n, const Vertex& vertex,
           PackingCoveringSolution& solution) {
  solution.x.assign(program.columns().size(), 0.0);
  solution.cost = 0.0;
  for (std::size_t k = 0; k < n.column.size(); ++k) {
    const std::size_t j = n.column[k];
    solution.x[j] = std::max(vertex.x[k], 0.0) * n.limit[j];
    solution.cost += program.columns()[j].cost * solution.x[j];
  }
}

PackingCoveringSolution infeasible(const PackingCoveringProgram& program) {
  PackingCoveringSolution solution;
  solution.status = PackingCoveringStatus::infeasible;
  solution.x.assign(program.columns().size(), 0.0);
  solution.covering_price.assign(program.covering().size(), 0.0);
  solution.packing_price.assign(program.packing().size(), 0.0);
  solution.bound = kInfinity;
  return solution;
}

bool proved_infeasible(const NormalisedProgram& n, std::span<const double> zero) {
  if (!n.covers) return true;
  const Vertex vertex = solve_share(n, share_program(n, zero, 1.0, 2.0));
  return proved_share(n, vertex.price, 2.0) < 1.0 - kShareTolerance;
}

}  // namespace

std::size_t PackingCoveringProgram::add_covering_row(double least) {
  BERTH_EXPECT(least >= 0.0 && least < kInfinity);
  covering_.push_back(least);
  return covering_.size() - 1;
}

std::size_t PackingCoveringProgram::add_packing_row(double most) {
  BERTH_EXPECT(most >= 0.0 && most < kInfinity);
  packing_.push_back(most);
  return packing_.size() - 1;
}

std::size_t PackingCoveringProgram::add_column(Column column) {
  for (const auto& [row, a] : column.covering) BERTH_EXPECT(row < covering_.size() && a >= 0.0);
  for (const auto& [row, b] : column.packing) BERTH_EXPECT(row < packing_.size() && b >= 0.0);
  BERTH_EXPECT(column.upper >= 0.0 && std::isfinite(column.cost));
  columns_.push_back(std::move(column));
  return columns_.size() - 1;
}

PackingCoveringSolution solve(const PackingCoveringProgram& program) {
  const NormalisedProgram n = normalise(program);
  if (!n.covers) return infeasible(program);
  std::vector<double> cost;
  double scale = covering_cost(program, n);
  for (std::size_t j = 0; j < program.columns().size(); ++j) {
    cost.push_back(program.columns()[j].cost);
    if (cost[j] < 0.0) scale = std::max(scale, -cost[j] * n.limit[j]);
  }
  if (scale <= 0.0) scale = 1.0;
  PackingCoveringSolution solution;
  double share_value = kFirstShareValue * scale;
  for (int attempt = 0; attempt < kShareValues; ++attempt, share_value *= kShareValueGrowth) {
    const Vertex vertex = solve_share(n, share_program(n, cost, share_value, 1.0));
    write(program, n, vertex, solution);
    prove(program, n, vertex.price, solution);
    const double size = std::max(scale, std::abs(solution.cost));
    if (vertex.share >= 1.0 - kShareTolerance) {
      if (solution.cost - solution.bound <= kGap * size) {
        solution.status = PackingCoveringStatus::optimal;
      }
      return solution;
    }
    if (attempt == 0 && proved_infeasible(n, std::vector<double>(cost.size(), 0.0))) {
      return infeasible(program);
    }
  }
  return solution;
}

}  // namespace berth::solver
