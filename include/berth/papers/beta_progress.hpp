// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::papers {

/// What a job in training shows of itself: ln(samples of an epoch), first loss, epochs done,
/// 1 - loss / first loss, accuracy.
using TrainingFeatures = std::array<double, 5>;

/// An epoch of a job that has finished.
struct ProgressPoint {
  TrainingFeatures features = {};
  double epochs = 0.0;    ///< done then, > 0
  double progress = 0.5;  ///< part of all its work that was done then, in (0, 1)
};

struct BetaProgressOptions {
  std::size_t hidden = 64;
  int passes = 60;  ///< over all points
  std::size_t batch = 8;
  double rate = 1e-4;   ///< of Adam
  double decay = 1e-4;  ///< of weights, added to the gradient
  /// After a draw of weights for which the network is 0 at every point, so that no gradient moves
  /// it, draw again, at most so many times. 0: as published.
  int redraws = 0;
};

/// Progress of a job in (0, 1) as Beta(alpha, beta) (ONES, SC 2021):
///
///   alpha = epochs done,  beta = 1 + max(0, w2 . tanh(W1 z + b1) + b2)
///
/// with features z; beta is about the epochs still to go. Fitted by maximum likelihood with Adam
/// (Kingma and Ba, 2015) from weights drawn from N(0, 1).
class BetaProgress {
 public:
  BetaProgress(const BetaProgressOptions& options, std::uint64_t seed);

  /// Draws the weights anew and fits them. O(passes x points x hidden)
  /// @param fit  number of this fit, for its draws
  void fit(std::span<const ProgressPoint> points, std::uint64_t fit);

  [[nodiscard]] double beta(const TrainingFeatures& features) const;

  /// Mean negative logarithm of the likelihood.
  [[nodiscard]] double loss(std::span<const ProgressPoint> points) const;
  /// Of `loss` by weights.
  [[nodiscard]] std::vector<double> gradient(std::span<const ProgressPoint> points) const;
  [[nodiscard]] std::vector<double>& weights() { return weights_; }

 private:
  /// The network before max(0, .); `hidden` gets the values of its hidden units.
  double output(const TrainingFeatures& features, std::span<double> hidden) const;
  void add_gradient(const ProgressPoint& point, std::span<double> gradient,
                    std::span<double> hidden) const;
  void draw(std::span<const ProgressPoint> points, std::uint64_t fit);
  [[nodiscard]] bool is_zero_at(std::span<const ProgressPoint> points) const;

  BetaProgressOptions options_;
  std::uint64_t seed_;
  std::vector<double> weights_;  ///< by hidden unit: W1 and b1; then w2, b2
};

/// Derivative of ln Gamma. @pre x > 0. Absolute error below 1e-10
[[nodiscard]] double digamma(double x);

/// A draw of Beta(alpha, beta) in (0, 1), a function of its key. @pre alpha, beta > 0
[[nodiscard]] double draw_beta(double alpha, double beta, std::array<std::uint64_t, 3> key);

/// Draws of N(0, 1): a function of the key.
[[nodiscard]] double draw_normal(std::array<std::uint64_t, 3> key, std::uint64_t number);

}  // namespace berth::papers
