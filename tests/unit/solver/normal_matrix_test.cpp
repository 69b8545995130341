// SPDX-License-Identifier: Apache-2.0
#include "petsc/normal_matrix.hpp"

#include "petsc/tile_kernels.hpp"
#include "petsc_environment.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"
#include "berth/parallel/threads.hpp"

namespace berth::solver {
namespace {

std::vector<double> numbers(std::size_t count, std::uint64_t seed) {
  std::vector<double> v(count);
  for (std::size_t i = 0; i < count; ++i) {
    v[i] = static_cast<double>(random_below(2001, {seed, i})) / 1000.0 - 1.0;
  }
  return v;
}

/// G G' + I, lower triangle (the rest is not a number), column-major.
void fill(std::span<double> m, std::size_t rows, std::uint64_t seed) {
  const auto g = numbers(rows * rows, seed);
  for (std::size_t j = 0; j < rows; ++j) {
    for (std::size_t i = 0; i < rows; ++i) {
      double sum = i == j ? 1.0 : 0.0;
      for (std::size_t k = 0; k < rows; ++k) sum += g[k * rows + i] * g[k * rows + j];
      m[j * rows + i] = i < j ? std::nan("") : sum;
    }
  }
}

std::vector<double> solved(std::size_t rows, int threads) {
  const parallel::ThreadLimit limit(threads);
  NormalMatrix m(rows);
  fill(m.entries(), rows, rows);
  EXPECT_TRUE(m.factor());
  std::vector<double> x = numbers(rows, 99);
  EXPECT_TRUE(m.solve(x));
  return x;
}

TEST(NormalMatrix, solves_whatever_part_of_a_tile_is_used) {
  for (const std::size_t rows : {1, 2, 31, 32, 33, 64, 97, 150}) {
    SCOPED_TRACE(testing::Message() << rows << " rows");
    const std::vector<double> x = solved(rows, 1);
    std::vector<double> m(rows * rows), image(rows, 0.0);
    fill(m, rows, rows);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < rows; ++j) {
        image[i] += m[i < j ? i * rows + j : j * rows + i] * x[j];
      }
    }
    const std::vector<double> right = numbers(rows, 99);
    for (std::size_t i = 0; i < rows; ++i) EXPECT_NEAR(image[i], right[i], 1e-10) << i;
  }
}

TEST(NormalMatrix, gives_the_same_bits_for_any_number_of_threads) {
  EXPECT_EQ(solved(150, 1), solved(150, 3));
}

TEST(NormalMatrix, raises_the_diagonal_of_a_singular_system) {
  constexpr std::size_t kRows = 70;
  NormalMatrix m(kRows);
  std::ranges::fill(m.entries(), 1.0);  // rank one
  ASSERT_TRUE(m.factor());
  std::vector<double> x(kRows, 7.0);
  ASSERT_TRUE(m.solve(x));
  double sum = 0.0;
  for (const double v : x) sum += v;
  EXPECT_NEAR(sum, 7.0, 1e-3);
}

TEST(NormalMatrix, refuses_what_is_far_from_definite) {
  NormalMatrix m(40);
  for (std::size_t i = 0; i < 40; ++i) m.entries()[i * 40 + i] = i == 35 ? -1.0 : 1.0;
  EXPECT_FALSE(m.factor());
  m.entries()[35 * 40 + 35] = 1.0;  // and is not spoiled by it
  EXPECT_TRUE(m.factor());
}

/// The serial twin: one sum after the other.
TEST(TileKernels, subtract_what_plain_loops_subtract_to_the_last_bit) {
  constexpr std::size_t kDepth = 37, kLd = 40;
  const auto a = numbers(kDepth * kLd, 1), b = numbers(kDepth * kLd, 2);
  const auto before = numbers(kTile * kLd, 3);
  auto full = before, lower = before;
  subtract_product(full.data(), a.data(), b.data(), kDepth, kLd, TilePart::full);
  subtract_product(lower.data(), a.data(), b.data(), kDepth, kLd, TilePart::lower);
  for (std::size_t j = 0; j < kTile; ++j) {
    for (std::size_t i = 0; i < kLd; ++i) {
      double sum = 0.0;
      for (std::size_t k = 0; k < kDepth; ++k) sum += a[k * kLd + i] * b[k * kLd + j];
      const std::size_t at = j * kLd + i;
      EXPECT_EQ(full[at], i < kTile ? before[at] - sum : before[at]) << i << " " << j;
      if (i < j) continue;
      EXPECT_EQ(lower[at], full[at]) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace berth::solver
