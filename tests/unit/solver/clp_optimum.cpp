// SPDX-License-Identifier: Apache-2.0
#include "clp_optimum.hpp"

#include <stdexcept>

#include <ClpSimplex.hpp>

namespace berth::test {
namespace {

constexpr double kTolerance = 1e-9;

void fill(ClpSimplex& clp, const solver::LinearProgram& lp) {
  clp.setLogLevel(0);
  clp.setPrimalTolerance(kTolerance);
  clp.setDualTolerance(kTolerance);
  const std::vector<CoinBigIndex> start(lp.start.begin(), lp.start.end());
  const std::vector<double> lower(lp.columns(), 0.0), upper(lp.columns(), COIN_DBL_MAX);
  const std::vector<double> row_lower(lp.rows(), -COIN_DBL_MAX);
  clp.loadProblem(static_cast<int>(lp.columns()), static_cast<int>(lp.rows()), start.data(),
                  lp.row.data(), lp.coefficient.data(), lower.data(), upper.data(), lp.value.data(),
                  row_lower.data(), lp.rhs.data());
  clp.setOptimizationDirection(-1.0);  // maximise
}

ClpOptimum answer(const ClpSimplex& clp, const solver::LinearProgram& lp) {
  if (!clp.isProvenOptimal()) throw std::runtime_error("Clp found no optimum");
  const double* const price = clp.getRowPrice();
  return {.value = clp.objectiveValue(), .price = {price, price + lp.rows()}};
}

}  // namespace

ClpOptimum clp_optimum(const solver::LinearProgram& lp) {
  ClpSimplex clp;
  fill(clp, lp);
  clp.dual();
  return answer(clp, lp);
}

ClpOptimum clp_optimum_primal(const solver::LinearProgram& lp) {
  ClpSimplex clp;
  fill(clp, lp);
  clp.primal();
  return answer(clp, lp);
}

}  // namespace berth::test
