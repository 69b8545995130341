// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "berth/speed/loss_curve.hpp"

/// Prediction of a job's training loss from its own history (SLAQ; Zhang, Stafman, Or and Freedman,
/// SoCC 2017): two families of curves, recent iterations count most.
namespace berth::papers {

struct LossPoint {
  double iteration = 0.0;
  double loss = 0.0;
};

/// A curve of iterations since `origin`. Both families are closed under a later origin.
struct LossFit {
  speed::LossCurve curve;
  double origin = 0.0;
  double error = 0.0;  ///< weighted sum of squares, unit of the loss squared

  [[nodiscard]] double loss(double iteration) const { return curve.loss(iteration - origin); }
};

/// Both constants are not stated with certainty for the paper: they are parameters.
struct LossFitOptions {
  double decay = 0.95;      ///< weight of a point i iterations old is decay^i, 0 < decay <= 1
  std::size_t window = 30;  ///< latest points that count, >= 2
};

/// The curve of one family with the least weighted sum of squares,
///   sum over points of decay^(last - k) (f(k) - loss)^2,
/// f convex and falling: a sublinear curve has b^2 >= a c. Offset and amplitude are linear in the
/// loss, so that only the shape (one or two numbers) is searched (variable projection; Golub and
/// Pereyra 1973): on a grid, then by golden sections. Scaling and shifting the losses scales and
/// shifts the curve.
/// @pre points by ascending iteration, at least one, finite
/// @throws InputError: which option is out of which range
/// O(window x 250)
[[nodiscard]] LossFit fit_loss_curve(std::span<const LossPoint> points, speed::LossFamily family,
                                     const LossFitOptions& options = {});

/// That of the two families with the smaller error, for a job whose method is not known.
[[nodiscard]] LossFit fit_loss_curve(std::span<const LossPoint> points,
                                     const LossFitOptions& options = {});

/// What a driver reports of one job: the loss after each iteration.
class LossHistory {
 public:
  /// @throws InputError: which option is out of which range
  explicit LossHistory(const LossFitOptions& options = {});

  /// @pre iterations ascend
  void add(double iteration, double loss);
  [[nodiscard]] std::size_t size() const { return seen_; }  ///< points since the begin
  [[nodiscard]] std::span<const LossPoint> window() const { return points_; }  ///< the latest
  [[nodiscard]] double first_loss() const { return first_; }
  /// Largest change of the loss between two reports; 0 before the second.
  [[nodiscard]] double largest_change() const { return largest_change_; }
  /// Of the window, fitted when the history has grown since the last call. @pre size() > 0
  [[nodiscard]] const LossFit& fit();

 private:
  LossFitOptions options_;
  std::vector<LossPoint> points_;
  std::size_t seen_ = 0;
  double first_ = 0.0;
  double largest_change_ = 0.0;
  std::size_t fitted_ = 0;  ///< points at the last fit
  LossFit fit_;
};

}  // namespace berth::papers
