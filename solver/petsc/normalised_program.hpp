// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "linear_program.hpp"

#include <cstddef>
#include <vector>

#include "berth/solver/packing_covering.hpp"

namespace berth::solver {

/// A mixed packing and covering program with each variable in parts of its limit and each row in
/// parts of its right-hand side. Variables that are 0 and rows that bind nothing are left out.
struct NormalisedProgram {
  std::vector<double> limit;          ///< by column of the program: x <= limit at some optimum
  std::vector<std::size_t> column;    ///< of the program, by column here
  std::vector<std::size_t> covering;  ///< row of the program, by covering row here
  std::vector<std::size_t> packing;   ///< the same for packing; kUpper + column: x <= limit
  std::vector<std::vector<std::pair<std::size_t, double>>> covering_row, packing_row;
  bool covers = true;  ///< false: a covering row has no entry

  static constexpr std::size_t kUpper = static_cast<std::size_t>(1) << 62;
};

NormalisedProgram normalise(const PackingCoveringProgram& program);

/// max  share_value s - cost x  with  s - A x <= 0,  B x <= 1,  s <= most_share; s is the last
/// column, and there is none without covering rows.
/// @param cost  by column of the program, per unit of x
LinearProgram share_program(const NormalisedProgram& program, std::span<const double> cost,
                            double share_value, double most_share);

}  // namespace berth::solver
