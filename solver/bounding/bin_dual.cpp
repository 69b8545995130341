// SPDX-License-Identifier: Apache-2.0
#include "bin_dual.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace berth::solver::bounding {

BinDual::BinDual(const MultipleKnapsack& problem, std::span<const std::uint32_t> order) {
  for (const std::uint32_t item : order) sizes_.push_back(problem.sizes[item]);
  std::vector<std::vector<double>> values;  // by bin, position
  for (std::size_t p = 0; p < problem.places.size(); ++p) {
    const std::int32_t above = problem.places[p].above;
    bin_.push_back(above < 0 ? values.size() : bin_[static_cast<std::size_t>(above)]);
    if (above < 0) values.emplace_back(order.size(), 0.0);
    std::vector<double>& best = values[bin_[p]];
    for (std::size_t i = 0; i < order.size(); ++i) {
      best[i] = std::max(best[i], problem.values[order[i]][p]);
    }
  }
  std::map<std::pair<std::int32_t, std::vector<double>>, std::size_t> known;
  for (std::size_t p = 0; p < problem.places.size(); ++p) {
    if (problem.places[p].above >= 0) continue;
    const std::int32_t capacity = problem.places[p].capacity;
    const auto [at, fresh] = known.try_emplace({capacity, values[bin_[p]]}, kinds_.size());
    if (fresh) kinds_.push_back({.capacity = capacity, .value = values[bin_[p]], .best = {}});
    ++kinds_[at->second].count;
    kind_.push_back(at->second);
  }
}

std::int64_t BinDual::cells() const {
  std::size_t sum = 0;
  for (const Kind& kind : kinds_) sum += kind.width() * (sizes_.size() + 1);
  return static_cast<std::int64_t>(sum);
}

double BinDual::most(std::size_t position) const {
  double most = 0.0;
  for (const Kind& kind : kinds_) most = std::max(most, kind.value[position]);
  return most;
}

void BinDual::fill(Kind& kind, std::span<const double> prices) const {
  const std::size_t width = kind.width();
  kind.best.assign((sizes_.size() + 1) * width, 0.0);
  for (std::size_t i = sizes_.size(); i-- > 0;) {
    const double* below = &kind.best[(i + 1) * width];
    double* own = &kind.best[i * width];
    std::copy_n(below, width, own);
    const double profit = kind.value[i] - prices[i];
    if (!(profit > 0.0)) continue;
    const auto size = static_cast<std::size_t>(sizes_[i]);
    for (std::size_t c = size; c < width; ++c) own[c] = std::max(own[c], below[c - size] + profit);
  }
}

double BinDual::evaluate(std::span<const double> prices, std::span<std::int32_t> chosen) {
  double bound = 0.0;
  for (const double price : prices) bound += price;
  std::ranges::fill(chosen, 0);
  for (Kind& kind : kinds_) {
    fill(kind, prices);
    const std::size_t width = kind.width();
    bound += kind.count * kind.best[width - 1];
    std::size_t left = width - 1;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      if (kind.best[i * width + left] <= kind.best[(i + 1) * width + left]) continue;
      chosen[i] += kind.count;
      left -= static_cast<std::size_t>(sizes_[i]);
    }
  }
  return bound;
}

}  // namespace berth::solver::bounding
