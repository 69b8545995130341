// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace berth::solver {

/// maximise c y subject to A y <= b, y >= 0, with b >= 0 and A >= 0: y = 0 is feasible.
struct PackingLp {
  std::vector<double> limit;                 ///< b by row
  std::vector<double> gain;                  ///< c by column
  std::vector<std::vector<double>> columns;  ///< A by column, then row
};

struct PackingSolution {
  std::vector<double> amount;  ///< y by column
  std::vector<double> price;   ///< dual by row, >= 0
};

/// Primal simplex on a dense tableau, Bland's rule (1977). For problems of a few rows.
/// O(pivots x rows x columns). @pre every column with a gain is bounded by some row
PackingSolution solve_packing(const PackingLp& lp);

}  // namespace berth::solver
