// SPDX-License-Identifier: Apache-2.0
#include "subgradient.hpp"

#include <algorithm>

namespace berth::solver::bounding {

SubgradientMethod::SubgradientMethod(std::span<const double> start,
                                     std::span<const PriceSign> signs,
                                     std::span<const std::int32_t> sizes,
                                     const JobPriceOptions& options)
    : options_(&options),
      signs_(signs),
      weights_(sizes.begin(), sizes.end()),
      prices_(start.begin(), start.end()),
      direction_(start.size(), 0.0),
      step_(options.step) {}

void SubgradientMethod::shrink_when_stalled(bool better) {
  stalled_ = better ? 0 : stalled_ + 1;
  if (stalled_ <= options_->patience) return;
  step_ *= options_->shrink;
  stalled_ = 0;
}

bool SubgradientMethod::take_step(std::span<const std::int32_t> chosen, double above) {
  double square = 0.0;
  for (std::size_t j = 0; j < prices_.size(); ++j) {
    if (signs_[j] == PriceSign::none) continue;
    const bool at_zero = signs_[j] == PriceSign::positive && prices_[j] <= 0.0;
    double& d = direction_[j];
    double gradient = 1.0 - chosen[j];
    if (at_zero) gradient = std::min(gradient, 0.0);
    d = gradient + options_->memory * d;
    if (at_zero) d = std::min(d, 0.0);
    square += weights_[j] * d * d;
  }
  if (!(square > 0.0)) return false;
  const double length = step_ * above / square;
  for (std::size_t j = 0; j < prices_.size(); ++j) {
    if (signs_[j] == PriceSign::none) continue;
    const double price = prices_[j] - length * weights_[j] * direction_[j];
    prices_[j] = signs_[j] == PriceSign::positive ? std::max(0.0, price) : price;
  }
  return true;
}

}  // namespace berth::solver::bounding
