// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/blmvm.hpp"

#include "petsc_environment.hpp"

#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace berth::solver {
namespace {

/// f(x) = sum (x_i - centre_i)^2: inside the box the centre, outside its projection.
struct Bowl {
  std::vector<double> centre;
  double operator()(std::span<const double> x, std::span<double> gradient) const {
    double value = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      value += (x[i] - centre[i]) * (x[i] - centre[i]);
      gradient[i] = 2.0 * (x[i] - centre[i]);
    }
    return value;
  }
};

TEST(Blmvm, projects_the_centre_of_a_bowl_on_the_box) {
  std::vector<double> x{3.0, 3.0, 3.0};
  const auto result = minimise(x, std::vector<double>{4.0, 4.0, 4.0}, Bowl{{1.5, -2.0, 9.0}});
  EXPECT_NEAR(x[0], 1.5, 1e-6);
  EXPECT_NEAR(x[1], 0.0, 1e-9);
  EXPECT_NEAR(x[2], 4.0, 1e-9);
  EXPECT_NEAR(result.value, 4.0 + 25.0, 1e-6);
  EXPECT_EQ(result.status, BlmvmStatus::converged);
}

/// f(x, y) = (1 - x)^2 + 100 (y - x^2)^2, minimum 0 at (1, 1); with y <= 0.25 at x = y^(1/2)
/// nearly: d/dx (1 - x)^2 + 100 (0.25 - x^2)^2 = 0 near x = 0.504958.
TEST(Blmvm, follows_a_curved_valley_into_a_bound) {
  const auto valley = [](std::span<const double> x, std::span<double> g) {
    const double a = 1.0 - x[0], b = x[1] - x[0] * x[0];
    g[0] = -2.0 * a - 400.0 * x[0] * b;
    g[1] = 200.0 * b;
    return a * a + 100.0 * b * b;
  };
  std::vector<double> free{0.0, 2.0};
  minimise(free, std::vector<double>{3.0, 3.0}, valley, {.max_iterations = 500});
  EXPECT_NEAR(free[0], 1.0, 1e-4);
  EXPECT_NEAR(free[1], 1.0, 1e-4);
  std::vector<double> bound{0.0, 0.1};
  minimise(bound, std::vector<double>{3.0, 0.25}, valley, {.max_iterations = 500});
  EXPECT_NEAR(bound[0], 0.504958, 1e-4);
  EXPECT_NEAR(bound[1], 0.25, 1e-9);
}

TEST(Blmvm, returns_the_best_point_when_iterations_end) {
  std::vector<double> x(20, 5.0);
  std::vector<double> centre;
  for (int i = 0; i < 20; ++i) centre.push_back(0.3 * i);
  double least = 1e300;
  const Bowl bowl{centre};
  const auto watched = [&](std::span<const double> at, std::span<double> g) {
    const double value = bowl(at, g);
    least = std::min(least, value);
    return value;
  };
  const auto result = minimise(x, std::vector<double>(20, 9.0), watched, {.max_iterations = 1});
  EXPECT_EQ(result.value, least);
  std::vector<double> g(20);
  EXPECT_EQ(bowl(x, g), least);
}

TEST(Blmvm, lets_an_exception_of_the_function_through_and_works_again) {
  const auto broken = [](std::span<const double>, std::span<double>) -> double {
    throw std::domain_error("no value here");
  };
  std::vector<double> x{1.0};
  EXPECT_THROW(minimise(x, std::vector<double>{2.0}, broken), std::domain_error);
  minimise(x, std::vector<double>{2.0}, Bowl{{0.5}});
  EXPECT_NEAR(x[0], 0.5, 1e-6);
}

TEST(Blmvm, takes_no_unknowns_at_all) {
  const auto constant = [](std::span<const double>, std::span<double>) { return 7.0; };
  EXPECT_EQ(minimise({}, {}, constant).value, 7.0);
}

/// f(x) = sum (x_i - x_{i+1})^2 + x_0^2 - 2 x_last over a long chain: what one end wants reaches
/// the other slowly. Minimum -n at x_i = i + 1.
double chain(std::span<const double> x, std::span<double> g) {
  double value = x[0] * x[0] - 2.0 * x.back();
  g[0] = 2.0 * x[0];
  for (std::size_t i = 1; i < x.size(); ++i) {
    const double step = x[i] - x[i - 1];
    value += step * step;
    g[i] = 2.0 * step;
    g[i - 1] -= 2.0 * step;
  }
  g[x.size() - 1] -= 2.0;
  return value;
}

TEST(Blmvm, remembers_as_many_steps_as_told) {
  constexpr std::size_t kSize = 80;
  const std::vector<double> upper(kSize, 1000.0);
  std::vector<double> shortly(kSize, 0.0), long_ago = shortly;
  const auto few = minimise(shortly, upper, chain, {.max_iterations = 100, .memory = 3});
  const auto many = minimise(long_ago, upper, chain, {.max_iterations = 100, .memory = 40});
  EXPECT_GT(few.value, -60.0);
  EXPECT_LT(many.value, -79.0);
}

TEST(Blmvm, ends_when_its_patience_does) {
  constexpr std::size_t kSize = 80;
  const std::vector<double> upper(kSize, 1000.0);
  BlmvmOptions options{.max_iterations = 1000, .memory = 10};
  std::vector<double> x(kSize, 0.0);
  const auto whole = minimise(x, upper, chain, options);
  options.patience = 20;
  options.least_gain = 0.05;
  x.assign(kSize, 0.0);
  const auto cut = minimise(x, upper, chain, options);
  EXPECT_EQ(cut.status, BlmvmStatus::converged);
  EXPECT_GT(cut.iterations, options.patience);
  EXPECT_LT(2 * cut.iterations, whole.iterations);
  EXPECT_LT(cut.value, 0.9 * whole.value);  // both negative
}

}  // namespace
}  // namespace berth::solver
