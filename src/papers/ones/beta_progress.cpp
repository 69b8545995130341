// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/beta_progress.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "berth/base/option_range.hpp"
#include "berth/base/random.hpp"

namespace berth::papers {
namespace {

constexpr std::size_t kInputs = std::tuple_size_v<TrainingFeatures>;
constexpr std::size_t kUnit = kInputs + 1;  ///< weights of a hidden unit, its offset last

enum FitStage : std::uint64_t { kWeights = 1, kShuffle };

/// Adam's moments.
class Adam {
 public:
  Adam(std::size_t weights, double rate) : rate_(rate), mean_(weights), square_(weights) {}

  void step(std::span<const double> gradient, std::span<double> weights) {
    constexpr double kMean = 0.9, kSquare = 0.999, kSmall = 1e-8;
    mean_left_ *= kMean;
    square_left_ *= kSquare;
    const double step = rate_ / (1.0 - mean_left_);
    const double scale = 1.0 / std::sqrt(1.0 - square_left_);
    for (std::size_t w = 0; w < weights.size(); ++w) {
      mean_[w] += (1.0 - kMean) * (gradient[w] - mean_[w]);
      square_[w] += (1.0 - kSquare) * (gradient[w] * gradient[w] - square_[w]);
      weights[w] -= step * mean_[w] / (scale * std::sqrt(square_[w]) + kSmall);
    }
  }

 private:
  double rate_;
  double mean_left_ = 1.0, square_left_ = 1.0;
  std::vector<double> mean_, square_;
};

std::vector<std::size_t> shuffled(std::size_t size, std::uint64_t seed, std::uint64_t fit,
                                  std::uint64_t pass) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = size; i > 1; --i)
    std::swap(order[i - 1], order[random_below(i, {seed, kShuffle, fit, pass, i})]);
  return order;
}

}  // namespace

BetaProgress::BetaProgress(const BetaProgressOptions& options, std::uint64_t seed)
    : options_(options), seed_(seed), weights_(options.hidden * (kUnit + 1) + 1) {
  expect_option("ones: hidden", static_cast<double>(options.hidden), at_least(1.0));
  expect_option("ones: batch", static_cast<double>(options.batch), at_least(1.0));
  expect_option("ones: passes", options.passes, at_least(0.0));
  expect_option("ones: rate", options.rate, above(0.0));
  expect_option("ones: decay", options.decay, at_least(0.0));
  expect_option("ones: redraws", options.redraws, at_least(0.0));
  draw({}, 0);
}

double BetaProgress::output(const TrainingFeatures& features, std::span<double> hidden) const {
  const double* second = &weights_[options_.hidden * kUnit];
  double sum = weights_.back();
  for (std::size_t h = 0; h < options_.hidden; ++h) {
    const double* first = &weights_[h * kUnit];
    const double in = std::inner_product(features.begin(), features.end(), first, first[kInputs]);
    hidden[h] = 1.0 - 2.0 / (std::exp(2.0 * in) + 1.0);  // tanh, at half the time of std::tanh
    sum += second[h] * hidden[h];
  }
  return sum;
}

double BetaProgress::beta(const TrainingFeatures& features) const {
  std::vector<double> hidden(options_.hidden);
  return 1.0 + std::max(0.0, output(features, hidden));
}

double BetaProgress::loss(std::span<const ProgressPoint> points) const {
  double sum = 0.0;
  for (const ProgressPoint& point : points) {
    const double a = point.epochs, b = beta(point.features);
    sum += std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b) -
           (a - 1.0) * std::log(point.progress) - (b - 1.0) * std::log1p(-point.progress);
  }
  return sum / static_cast<double>(points.size());
}

void BetaProgress::add_gradient(const ProgressPoint& point, std::span<double> gradient,
                                std::span<double> hidden) const {
  const double out = output(point.features, hidden);
  if (out <= 0.0) return;
  const double b = 1.0 + out;
  const double by_output = digamma(b) - digamma(point.epochs + b) - std::log1p(-point.progress);
  const std::size_t second = options_.hidden * kUnit;
  for (std::size_t h = 0; h < options_.hidden; ++h) {
    gradient[second + h] += by_output * hidden[h];
    const double by_sum = by_output * weights_[second + h] * (1.0 - hidden[h] * hidden[h]);
    double* first = &gradient[h * kUnit];
    for (std::size_t i = 0; i < kInputs; ++i) first[i] += by_sum * point.features[i];
    first[kInputs] += by_sum;
  }
  gradient.back() += by_output;
}

std::vector<double> BetaProgress::gradient(std::span<const ProgressPoint> points) const {
  std::vector<double> sum(weights_.size()), hidden(options_.hidden);
  for (const ProgressPoint& point : points) add_gradient(point, sum, hidden);
  for (double& part : sum) part /= static_cast<double>(points.size());
  return sum;
}

bool BetaProgress::is_zero_at(std::span<const ProgressPoint> points) const {
  return std::ranges::all_of(
      points, [&](const ProgressPoint& point) { return beta(point.features) == 1.0; });
}

void BetaProgress::draw(std::span<const ProgressPoint> points, std::uint64_t fit) {
  for (int trial = 0; trial <= options_.redraws; ++trial) {
    for (std::size_t w = 0; w < weights_.size(); ++w)
      weights_[w] = draw_normal({seed_, kWeights, fit},
                                w + weights_.size() * static_cast<std::size_t>(trial));
    if (points.empty() || !is_zero_at(points)) return;
  }
}

void BetaProgress::fit(std::span<const ProgressPoint> points, std::uint64_t fit) {
  draw(points, fit);
  Adam adam(weights_.size(), options_.rate);
  std::vector<ProgressPoint> batch;
  for (int pass = 0; pass < options_.passes; ++pass) {
    const auto order = shuffled(points.size(), seed_, fit, static_cast<std::uint64_t>(pass));
    for (std::size_t first = 0; first < order.size(); first += options_.batch) {
      batch.clear();
      for (std::size_t i = first; i < std::min(order.size(), first + options_.batch); ++i)
        batch.push_back(points[order[i]]);
      std::vector<double> by_weight = gradient(batch);
      for (std::size_t w = 0; w < weights_.size(); ++w)
        by_weight[w] += options_.decay * weights_[w];
      adam.step(by_weight, weights_);
    }
  }
}

}  // namespace berth::papers
