// SPDX-License-Identifier: Apache-2.0
#include "tile_kernels.hpp"

#include <cstring>

namespace berth::solver {
namespace {

/// columns of a block: two vectors of rows by four columns fit in eight registers
/// (docs/decisions/0011)
constexpr std::size_t kColumns = 4;

/// One block of C of 2 Width rows.
template <std::size_t Width>
[[gnu::always_inline]] inline void subtract_block(double* c, const double* a, const double* b,
                                                  std::size_t depth, std::size_t ld) {
  typedef double Lanes __attribute__((vector_size(Width * sizeof(double))));
  Lanes above[kColumns], below[kColumns], upper, lower;
  for (std::size_t j = 0; j < kColumns; ++j) above[j] = below[j] = Lanes{};
  for (std::size_t k = 0; k < depth; ++k) {
    std::memcpy(&upper, a + k * ld, sizeof upper);
    std::memcpy(&lower, a + k * ld + Width, sizeof lower);
    for (std::size_t j = 0; j < kColumns; ++j) {
      above[j] += upper * b[k * ld + j];
      below[j] += lower * b[k * ld + j];
    }
  }
  for (std::size_t j = 0; j < kColumns; ++j) {
    std::memcpy(&upper, c + j * ld, sizeof upper);
    std::memcpy(&lower, c + j * ld + Width, sizeof lower);
    upper -= above[j];
    lower -= below[j];
    std::memcpy(c + j * ld, &upper, sizeof upper);
    std::memcpy(c + j * ld + Width, &lower, sizeof lower);
  }
}

/// C -= A B' with A and B of `depth` columns; all three have the leading dimension `ld`.
struct Product {
  double* c;
  const double* a;
  const double* b;
  std::size_t depth;
  std::size_t ld;
};

/// `columns` columns of C, block by block.
template <std::size_t Width>
[[gnu::always_inline]] inline void subtract(const Product& p, std::size_t columns, TilePart part) {
  constexpr std::size_t kRows = 2 * Width;
  for (std::size_t j = 0; j < columns; j += kColumns) {
    const std::size_t first = part == TilePart::full ? 0 : j / kRows * kRows;
    for (std::size_t i = first; i < kTile; i += kRows) {
      subtract_block<Width>(p.c + j * p.ld + i, p.a + i, p.b + j, p.depth, p.ld);
    }
  }
}

void subtract_plain(const Product& product, std::size_t columns, TilePart part) {
  subtract<2>(product, columns, part);
}

#ifdef __x86_64__
[[gnu::target("avx2")]] void subtract_wide(const Product& product, std::size_t columns,
                                           TilePart part) {
  subtract<4>(product, columns, part);
}

const auto subtract_columns = __builtin_cpu_supports("avx2") ? subtract_wide : subtract_plain;
#else
constexpr auto subtract_columns = subtract_plain;
#endif

}  // namespace

void subtract_product(double* c, const double* a, const double* b, std::size_t depth,
                      std::size_t ld, TilePart part) {
  subtract_columns({c, a, b, depth, ld}, kTile, part);
}

void divide_by_lower(double* x, const double* l, std::size_t ld) {
  for (std::size_t first = 0; first < kTile; first += kColumns) {
    subtract_columns({x + first * ld, x, l + first, first, ld}, kColumns, TilePart::full);
    for (std::size_t j = first; j < first + kColumns; ++j) {
      double* to = x + j * ld;
      for (std::size_t k = first; k < j; ++k) {
        const double factor = l[k * ld + j];
        const double* from = x + k * ld;
        for (std::size_t i = 0; i < kTile; ++i) to[i] -= from[i] * factor;
      }
      const double pivot = l[j * ld + j];
      for (std::size_t i = 0; i < kTile; ++i) to[i] /= pivot;
    }
  }
}

}  // namespace berth::solver
