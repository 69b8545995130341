// SPDX-License-Identifier: Apache-2.0
// The predictor of ONES: gradients by differences, draws by their moments, calibration.
#include "berth/papers/beta_progress.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::papers {
namespace {

/// Points of jobs whose epochs to go are Beta around what the loss shows.
std::vector<ProgressPoint> drawn_points(std::size_t count, std::uint64_t seed) {
  std::vector<ProgressPoint> points;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double epochs = 2.0 + static_cast<double>(random_below(15, {seed, i, 0}));
    const double left = 30.0 * random_unit({seed, i, 1});
    ProgressPoint point;
    point.features = {9.5, 2.0, epochs, 1.0 - left / 30.0, 0.9 * (1.0 - left / 30.0)};
    point.epochs = epochs;
    point.progress = draw_beta(epochs, 1.0 + left, {seed, i, 2});
    points.push_back(point);
  }
  return points;
}

TEST(Digamma, known_values_and_recurrence) {
  EXPECT_NEAR(digamma(1.0), -std::numbers::egamma, 1e-10);
  EXPECT_NEAR(digamma(0.5), -std::numbers::egamma - 2.0 * std::numbers::ln2, 1e-10);
  for (const double x : {0.1, 2.5, 7.9, 8.1, 40.0})
    EXPECT_NEAR(digamma(x + 1.0), digamma(x) + 1.0 / x, 1e-10);
}

TEST(DrawBeta, has_mean_and_variance_of_the_distribution) {
  for (const auto& [a, b] : {std::pair{2.0, 5.0}, {20.0, 1.0}, {0.5, 0.7}}) {
    constexpr int kDraws = 20'000;
    double sum = 0.0, squares = 0.0;
    for (std::uint64_t i = 0; i < kDraws; ++i) {
      const double x = draw_beta(a, b, {3, i, 0});
      ASSERT_TRUE(x > 0.0 && x < 1.0);
      sum += x;
      squares += x * x;
    }
    const double mean = sum / kDraws, variance = a * b / ((a + b) * (a + b) * (a + b + 1.0));
    EXPECT_NEAR(mean, a / (a + b), 5.0 * std::sqrt(variance / kDraws));
    EXPECT_NEAR(squares / kDraws - mean * mean, variance, 0.06 * variance);
  }
}

TEST(BetaProgress, gradients_are_those_of_the_loss) {
  BetaProgress model({.hidden = 4}, 5);
  const auto points = drawn_points(20, 1);
  model.weights().back() = 6.0;  // alive
  for (double& w : model.weights()) w *= 0.3;
  const auto gradient = model.gradient(points);
  constexpr double kStep = 1e-6;
  double largest = 0.0;
  for (std::size_t w = 0; w < gradient.size(); ++w) {
    const double at = model.weights()[w];
    model.weights()[w] = at + kStep;
    const double above = model.loss(points);
    model.weights()[w] = at - kStep;
    const double below = model.loss(points);
    model.weights()[w] = at;
    EXPECT_NEAR(gradient[w], (above - below) / (2.0 * kStep), 1e-5) << w;
    largest = std::max(largest, std::abs(gradient[w]));
  }
  EXPECT_GT(largest, 0.01);
}

/// Part of the points whose progress lies within the 80 % interval of draws of the model.
double covered(const BetaProgress& model, std::span<const ProgressPoint> points) {
  int inside = 0;
  for (std::uint64_t i = 0; i < points.size(); ++i) {
    std::vector<double> draws;
    for (std::uint64_t d = 0; d < 200; ++d)
      draws.push_back(draw_beta(points[i].epochs, model.beta(points[i].features), {9, i, d}));
    std::ranges::sort(draws);
    inside += points[i].progress >= draws[20] && points[i].progress <= draws[179] ? 1 : 0;
  }
  return inside / static_cast<double>(points.size());
}

TEST(BetaProgress, a_fitted_model_is_calibrated_and_an_unfitted_one_is_not) {
  const auto points = drawn_points(600, 1), held_out = drawn_points(400, 2);
  BetaProgress model({.rate = 1e-3, .redraws = 20}, 5);  // faster than published, for a test
  const double before = covered(model, held_out);
  model.fit(points, 1);
  const double after = covered(model, held_out);
  RecordProperty("covered", std::to_string(after));
  EXPECT_GT(after, 0.72);
  EXPECT_LT(after, 0.88);
  EXPECT_LT(before, 0.6);
}

TEST(BetaProgress, weights_that_no_gradient_moves_are_drawn_again_if_asked) {
  const auto points = drawn_points(50, 1);
  int dead = 0;
  for (std::uint64_t fit = 0; fit < 20; ++fit) {
    BetaProgress published({.passes = 0}, 5), redrawn({.passes = 0, .redraws = 20}, 5);
    published.fit(points, fit);
    redrawn.fit(points, fit);
    const auto is_one = [&](const BetaProgress& model) {
      return std::ranges::all_of(points,
                                 [&](const auto& p) { return model.beta(p.features) == 1.0; });
    };
    dead += is_one(published) ? 1 : 0;
    EXPECT_FALSE(is_one(redrawn));
  }
  EXPECT_GT(dead, 2);  // large inputs saturate the network
  RecordProperty("dead", dead);
}

}  // namespace
}  // namespace berth::papers
