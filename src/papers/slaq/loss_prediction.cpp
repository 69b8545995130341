// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/loss_prediction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/base/option_range.hpp"

namespace berth::papers {
namespace {

using speed::LossCurve;
using speed::LossFamily;

// Shapes between nearly a line and a drop within the first points, over the window's length.
const double kLeastBend = std::log(0.05), kMostBend = std::log(50.0);
constexpr int kGrid = 8;       ///< values of one shape parameter before the golden sections
constexpr int kSections = 12;  ///< leave less than 0.5 % of two grid steps
constexpr double kGolden = 0.6180339887498949;

/// amplitude x shape + offset, fitted by weighted linear least squares.
struct LinearPart {
  double amplitude = 0.0, offset = 0.0;
  double error = std::numeric_limits<double>::infinity();
};

/// Points of the window with the origin, range and offset of the losses taken out.
class Window {
 public:
  Window(std::span<const LossPoint> points, double decay) : origin_(points.front().iteration) {
    const auto [low, high] = std::ranges::minmax(points, {}, &LossPoint::loss);
    base_ = points.back().loss;
    range_ = high.loss > low.loss ? high.loss - low.loss : 1.0;
    for (const LossPoint& p : points) {
      x_.push_back(p.iteration - origin_);
      y_.push_back((p.loss - base_) / range_);
      weight_.push_back(std::pow(decay, points.back().iteration - p.iteration));
    }
    shape_.resize(x_.size());
  }

  [[nodiscard]] double length() const { return std::max(x_.back(), 1.0); }
  [[nodiscard]] double origin() const { return origin_; }
  [[nodiscard]] double base() const { return base_; }
  [[nodiscard]] double range() const { return range_; }

  /// The best amplitude, not below 0, and offset of a shape.
  template <class Shape>
  [[nodiscard]] LinearPart project(const Shape& shape) {
    double w = 0.0, s = 0.0, y = 0.0;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      shape_[i] = shape(x_[i]);
      w += weight_[i];
      s += weight_[i] * shape_[i];
      y += weight_[i] * y_[i];
    }
    const double mean_shape = s / w, mean_y = y / w;
    double ss = 0.0, sy = 0.0, yy = 0.0;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const double ds = shape_[i] - mean_shape, dy = y_[i] - mean_y;
      ss += weight_[i] * ds * ds;
      sy += weight_[i] * ds * dy;
      yy += weight_[i] * dy * dy;
    }
    LinearPart part;
    part.amplitude = ss > 0.0 ? std::max(sy / ss, 0.0) : 0.0;
    part.offset = mean_y - part.amplitude * mean_shape;
    part.error = std::max(yy - part.amplitude * (2.0 * sy - part.amplitude * ss), 0.0);
    return part;
  }

 private:
  double origin_, base_ = 0.0, range_ = 1.0;
  std::vector<double> x_, y_, weight_, shape_;
};

/// The argument of the least value in [low, high]: the best of a grid, then golden sections between
/// its neighbours.
template <class Error>
double minimise(double low, double high, int grid, const Error& error) {
  const double step = (high - low) / (grid - 1);
  int best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < grid; ++i) {
    if (const double e = error(low + i * step); e < least) {
      least = e;
      best = i;
    }
  }
  const double on_grid = low + best * step;
  double from = std::max(low, on_grid - step), to = std::min(high, on_grid + step);
  double left = to - kGolden * (to - from), right = from + kGolden * (to - from);
  double at_left = error(left), at_right = error(right);
  for (int i = 0; i < kSections; ++i) {
    if (at_left <= at_right) {
      to = std::exchange(right, left);
      at_right = at_left;
      at_left = error(left = to - kGolden * (to - from));
    } else {
      from = std::exchange(left, right);
      at_left = at_right;
      at_right = error(right = from + kGolden * (to - from));
    }
  }
  const double inner = std::min(at_left, at_right);
  return least <= inner ? on_grid : (at_left <= at_right ? left : right);
}

LossFit flat(const Window& window, const LinearPart& part) {
  const double level = window.base() + window.range() * part.offset;
  return {.curve = {.family = LossFamily::sublinear, .a = 0.0, .b = 0.0, .c = 1.0, .d = level - 1},
          .origin = window.origin(),
          .error = part.error * window.range() * window.range()};
}

LossFit fit_linear(Window& window) {
  const auto shape = [&](double bend) {
    const double rate = std::exp(bend) / window.length();
    return [rate](double x) { return std::exp(-rate * x); };
  };
  const double bend = minimise(kLeastBend, kMostBend, kGrid,
                               [&](double at) { return window.project(shape(at)).error; });
  const LinearPart part = window.project(shape(bend));
  if (part.amplitude == 0.0) return flat(window, part);
  const double rate = std::exp(bend) / window.length();
  LossFit fit = flat(window, part);
  fit.curve = {.family = LossFamily::linear,
               .a = std::exp(-rate),
               .b = std::log(part.amplitude * window.range()) / rate,
               .c = window.base() + window.range() * part.offset,
               .d = 0.0};
  return fit;
}

LossFit fit_sublinear(Window& window) {
  // 1 / (1 + p x + q p^2 x^2): convex from the origin on if q <= 1.
  const auto shape = [&](double bend, double q) {
    const double p = std::exp(bend) / window.length();
    return [p, q](double x) { return 1.0 / (1.0 + p * x * (1.0 + q * p * x)); };
  };
  const auto best_bend = [&](double q) {
    return minimise(kLeastBend, kMostBend, kGrid,
                    [&](double at) { return window.project(shape(at, q)).error; });
  };
  constexpr int kSquares = 3;  // the error is flat in q
  double best_q = 0.0, bend = 0.0;
  LinearPart best;
  for (int i = 0; i < kSquares; ++i) {
    const double q = static_cast<double>(i) / (kSquares - 1), at = best_bend(q);
    const LinearPart part = window.project(shape(at, q));
    if (part.error >= best.error) continue;
    best = part;
    best_q = q;
    bend = at;
  }
  LossFit fit = flat(window, best);
  if (best.amplitude == 0.0) return fit;
  const double p = std::exp(bend) / window.length(), height = best.amplitude * window.range();
  fit.curve = {.family = LossFamily::sublinear,
               .a = best_q * p * p / height,
               .b = p / height,
               .c = 1.0 / height,
               .d = window.base() + window.range() * best.offset};
  return fit;
}

void check(const LossFitOptions& options) {
  expect_option("slaq: decay", options.decay, {.least = 0.0, .most = 1.0, .without_least = true});
  expect_option("slaq: window", static_cast<double>(options.window), at_least(2.0));
}

std::span<const LossPoint> latest(std::span<const LossPoint> points,
                                  const LossFitOptions& options) {
  BERTH_EXPECT(!points.empty());
  check(options);
  return points.last(std::min(points.size(), options.window));
}

}  // namespace

LossFit fit_loss_curve(std::span<const LossPoint> points, LossFamily family,
                       const LossFitOptions& options) {
  Window window(latest(points, options), options.decay);
  return family == LossFamily::linear ? fit_linear(window) : fit_sublinear(window);
}

LossFit fit_loss_curve(std::span<const LossPoint> points, const LossFitOptions& options) {
  Window window(latest(points, options), options.decay);
  const LossFit sublinear = fit_sublinear(window), linear = fit_linear(window);
  return linear.error < sublinear.error ? linear : sublinear;
}

LossHistory::LossHistory(const LossFitOptions& options) : options_(options) { check(options); }

void LossHistory::add(double iteration, double loss) {
  BERTH_EXPECT(points_.empty() || iteration > points_.back().iteration);
  if (points_.empty()) {
    first_ = loss;
  } else {
    largest_change_ = std::max(largest_change_, std::abs(loss - points_.back().loss));
  }
  if (points_.size() == options_.window) points_.erase(points_.begin());
  points_.push_back({iteration, loss});
  ++seen_;
}

const LossFit& LossHistory::fit() {
  if (fitted_ != seen_) fit_ = fit_loss_curve(points_, options_);
  fitted_ = seen_;
  return fit_;
}

}  // namespace berth::papers
