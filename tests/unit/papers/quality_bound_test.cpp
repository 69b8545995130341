// SPDX-License-Identifier: Apache-2.0
#include "quality_exhaustive.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace berth::papers {
namespace {

using testing::BestOrder;
using testing::kCores;

TEST(QualityBound, NoOrderOfStepsIsBetter) {
  int tight = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::vector<FluidJob> jobs = testing::draw_fluid(seed);
    const BestOrder best = testing::ExhaustiveOrders(jobs).best();
    const double unearned = least_unearned(jobs, kCores);
    EXPECT_LE(unearned, best.unearned + 1e-9);
    EXPECT_NEAR(least_flow(jobs, kCores, kCores), best.flow, 1e-9);
    tight += unearned > best.unearned - 1e-9;
  }
  EXPECT_GE(tight, 5);  // where all pieces come in falling density
}

TEST(QualityBound, FallingDensitiesAreExact) {
  const std::vector<FluidJob> jobs = {{0.0, {{4.0, 8.0}, {4.0, 2.0}}}, {1.0, {{4.0, 5.0}}}};
  // 8 in the first second, 5 in the second, 2 in the third.
  EXPECT_DOUBLE_EQ(least_unearned(jobs, kCores), (10.0 - 4.0) + (2.0 + 2.5) + 1.0);
}

TEST(QualityBound, CoresOfAJobAreLimited) {
  const std::vector<FluidJob> jobs = {{0.0, {{8.0, 1.0}}}, {100.0, {{4.0, 1.0}}}};
  EXPECT_DOUBLE_EQ(least_flow(jobs, kCores, kCores), 3.0);
  EXPECT_DOUBLE_EQ(least_flow(jobs, kCores, 1.0), 12.0);
}

}  // namespace
}  // namespace berth::papers
