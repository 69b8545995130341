// SPDX-License-Identifier: Apache-2.0
#include "search/gang_bound.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace berth::certify::search {
namespace {

constexpr int kPriceSteps = 300;      ///< chosen, not tuned
constexpr int kPatience = 10;         ///< steps without gain until the level is halved
constexpr double kFirstLevel = 0.02;  ///< of the first target below the bound; not tuned

double slope(Int128 price, int chosen) {
  const double slope = 1.0 - chosen;
  return price == 0 ? std::min(0.0, slope) : slope;
}

}  // namespace

GangBound::GangBound(const GangProblem& problem) : problem_(problem), depth_(problem.gangs.size()) {
  for (std::size_t p = 0; p < problem.places.size(); ++p) {
    const std::int32_t above = problem.places[p].above;
    outermost_.push_back(above < 0 ? p : outermost_[static_cast<std::size_t>(above)]);
  }
  find_most();
}

std::size_t GangBound::cells() const {
  std::size_t sum = 0;
  for (std::size_t p = 0; p < outermost_.size(); ++p) {
    if (is_outermost(p) && table_of_[p] == p) sum += width(p) * (depth_ + 1);
  }
  return sum;
}

Int128 GangBound::at(std::size_t depth, std::span<const std::int32_t> left) const {
  Int128 sum = prices_left_[depth];
  for (std::size_t p = 0; p < left.size(); ++p) {
    if (is_outermost(p)) sum += profit(p, depth, left[p]);
  }
  return sum;
}

/// Most that each gang gains within an outermost place; equal ones share a table.
void GangBound::find_most() {
  most_.resize(outermost_.size());
  table_of_.resize(outermost_.size());
  for (std::size_t p = 0; p < outermost_.size(); ++p) {
    std::vector<Int128>& most = most_[outermost_[p]];
    most.resize(depth_, 0);
    for (std::size_t j = 0; j < depth_; ++j) {
      most[j] = std::max(most[j], problem_.gangs[j].gain[p]);
    }
  }
  std::map<std::pair<std::int32_t, std::vector<Int128>>, std::size_t> known;
  for (std::size_t p = 0; p < outermost_.size(); ++p) {
    if (!is_outermost(p)) continue;
    table_of_[p] = known.try_emplace({problem_.places[p].capacity, most_[p]}, p).first->second;
  }
  tables_.resize(outermost_.size());
}

/// Fills the tables. @param chosen  by gang: in how many knapsacks. @return the bound
Int128 GangBound::evaluate(const std::vector<Int128>& prices, std::vector<int>& chosen) {
  Int128 bound = 0;
  for (const Int128 price : prices) bound += price;
  std::ranges::fill(chosen, 0);
  for (std::size_t p = 0; p < outermost_.size(); ++p) {
    if (!is_outermost(p)) continue;
    if (table_of_[p] == p) fill(p, prices);
    const std::vector<Int128>& table = tables_[table_of_[p]];
    std::size_t left = width(p) - 1;
    bound += table[left];
    for (std::size_t j = 0; j < depth_; ++j) {
      if (table[j * width(p) + left] == table[(j + 1) * width(p) + left]) continue;
      ++chosen[j];
      left -= static_cast<std::size_t>(problem_.gangs[j].size);
    }
  }
  return bound;
}

void GangBound::fill(std::size_t p, const std::vector<Int128>& prices) {
  std::vector<Int128>& table = tables_[p];
  table.assign((depth_ + 1) * width(p), 0);
  for (std::size_t j = depth_; j-- > 0;) {
    const Int128* below = &table[(j + 1) * width(p)];
    Int128* own = &table[j * width(p)];
    std::copy_n(below, width(p), own);
    const Int128 gain = most_[p][j] - prices[j];
    const auto size = static_cast<std::size_t>(problem_.gangs[j].size);
    for (std::size_t u = size; gain > 0 && u < width(p); ++u) {
      own[u] = std::max(own[u], below[u - size] + gain);
    }
  }
}

Int128 GangBound::find_prices() {
  std::vector<Int128> prices, best;
  for (const auto& gang : problem_.gangs) {
    prices.push_back(*std::ranges::max_element(gang.gain) / 2);
  }
  std::vector<int> chosen(depth_);
  Int128 least = 0;
  double level = 0.0;
  for (int k = 0, stalled = 0; k < kPriceSteps; ++k) {
    const Int128 bound = evaluate(prices, chosen);
    if (k == 0) level = kFirstLevel * static_cast<double>(bound);
    const bool better = k == 0 || bound < least;
    if (better) least = bound, best = prices;
    stalled = better ? 0 : stalled + 1;
    if (stalled == kPatience) stalled = 0, level /= 2.0;
    step(static_cast<double>(bound - least) + level, chosen, prices);
  }
  prices_left_.assign(depth_ + 1, 0);
  for (std::size_t j = depth_; j-- > 0;) prices_left_[j] = prices_left_[j + 1] + best[j];
  return evaluate(best, chosen);
}

/// A subgradient step of Polyak's length to a target so far below, in the metric of the sizes.
void GangBound::step(double above, const std::vector<int>& chosen,
                     std::vector<Int128>& prices) const {
  double square = 0.0;
  for (std::size_t j = 0; j < depth_; ++j) {
    square += problem_.gangs[j].size * std::pow(slope(prices[j], chosen[j]), 2);
  }
  if (!(square > 0.0)) return;
  for (std::size_t j = 0; j < depth_; ++j) {
    const double by = above / square * problem_.gangs[j].size * slope(prices[j], chosen[j]);
    prices[j] = std::max<Int128>(0, prices[j] - static_cast<Int128>(by));
  }
}

}  // namespace berth::certify::search
