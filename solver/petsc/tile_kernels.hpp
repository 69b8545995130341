// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace berth::solver {

/// Rows and columns of a tile of a column-major matrix with leading dimension `ld`:
/// docs/decisions/0011.
inline constexpr std::size_t kTile = 32;

enum class TilePart : std::uint8_t { full, lower };

/// C -= A B' on one tile, A and B of `depth` columns. Every element sums its products in column
/// order and is subtracted once, for any width of the machine's vectors: equal bits everywhere.
/// `lower`: elements above the diagonal of C may stay unchanged.
void subtract_product(double* c, const double* a, const double* b, std::size_t depth,
                      std::size_t ld, TilePart part);

/// X := X L'^-1 on one tile; L lower triangular.
void divide_by_lower(double* x, const double* l, std::size_t ld);

}  // namespace berth::solver
