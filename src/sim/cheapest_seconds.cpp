// SPDX-License-Identifier: Apache-2.0
#include "cheapest_seconds.hpp"

#include <algorithm>
#include <limits>

namespace berth::sim {
namespace {

constexpr double kNothing = 1e-15;  ///< of a job's work

double rate_of(const horizon::Option& option) { return 1.0 / static_cast<double>(option.duration); }

std::int32_t number(std::size_t i) { return static_cast<std::int32_t>(i); }

}  // namespace

double CheapestSeconds::end(std::size_t k) const {
  return k < prices_.intervals() ? prices_.nodes[k + 1] : std::numeric_limits<double>::infinity();
}

double CheapestSeconds::rent(const horizon::Option& option, std::size_t k) const {
  if (k >= prices_.intervals()) return 0.0;
  const PoolId pool = problem_.pools_of(option).front();
  const std::size_t curve = problem_.pools[pool.index()].curve.index();
  const double gpus = static_cast<double>(option.rent) / horizon::kRentUnit;
  return gpus * prices_.price[curve * prices_.intervals() + k];
}

/// The lower hull of the choices in one interval.
void CheapestSeconds::make_row(std::size_t k) {
  row_.clear();
  double rate = 0.0, cost = 0.0;
  std::int32_t at = -1;
  while (true) {
    Purchase next{.price = std::numeric_limits<double>::infinity(),
                  .share = 0.0,
                  .interval = number(k),
                  .instead = at,
                  .option = -1};
    for (std::size_t o = 0; o < options_.size(); ++o) {
      const double more = rate_of(options_[o]) - rate;
      if (more <= 0.0) continue;
      const double price = (rent(options_[o], k) - cost) / more;
      if (price > next.price || (price == next.price && more <= next.share)) continue;
      next.price = price;
      next.share = more;
      next.option = number(o);
    }
    if (next.option < 0) return;
    next.price = std::max(next.price, row_.empty() ? 0.0 : row_.back().price);
    row_.push_back(next);
    at = next.option;
    rate = rate_of(options_[static_cast<std::size_t>(at)]);
    cost = rent(options_[static_cast<std::size_t>(at)], k);
  }
}

/// The cheapest purchases of all work within [release, time). Returns the interval of time.
std::size_t CheapestSeconds::buy_until(double time) {
  bought_.clear();
  const auto after = std::ranges::upper_bound(prices_.nodes, release_);
  std::size_t k = after == prices_.nodes.begin()
                      ? 0
                      : static_cast<std::size_t>(after - prices_.nodes.begin()) - 1;
  std::size_t last = k;
  for (; k <= prices_.intervals() && begin(k) < time; ++k) {
    last = k;
    const double length = std::min(end(k), time) - std::max(begin(k), release_);
    make_row(k);
    for (Purchase purchase : row_) {
      purchase.share *= length;
      bought_.push_back(purchase);
    }
  }
  std::ranges::stable_sort(bought_, {}, &Purchase::price);
  double left = 1.0;
  std::size_t kept = 0;
  rent_ = 0.0;
  for (; kept < bought_.size() && left > kNothing; ++kept) {
    bought_[kept].share = std::min(bought_[kept].share, left);
    left -= bought_[kept].share;
    rent_ += bought_[kept].price * bought_[kept].share;
  }
  bought_.resize(kept);
  return last;
}

/// Work at one price is one purchase, else they would grow with every step; `add_use` buys anew.
void CheapestSeconds::insert(const Purchase& purchase) {
  const auto at = std::ranges::lower_bound(bought_, purchase.price, {}, &Purchase::price);
  if (at != bought_.end() && at->price == purchase.price) {
    at->share += purchase.share;
  } else {
    bought_.insert(at, purchase);
  }
}

/// Moves the completion to the end of interval k, and work there from dearer seconds.
void CheapestSeconds::sell_for(std::size_t k) {
  time_ = std::max(time_, begin(k));
  make_row(k);
  while (time_ < end(k) && !bought_.empty()) {
    const double dearest = bought_.back().price;
    double rate = 0.0, gain = 0.0;
    for (const Purchase& of_row : row_) {
      if (of_row.price >= dearest) break;
      rate += of_row.share;
      gain += (dearest - of_row.price) * of_row.share;
    }
    if (gain <= 0.0) return;
    const bool all = bought_.back().share <= rate * (end(k) - time_);
    const double step = all ? bought_.back().share / rate : end(k) - time_;
    bought_.back().share -= rate * step;
    if (all) bought_.pop_back();
    for (Purchase purchase : row_) {
      if (purchase.price >= dearest) break;
      purchase.share *= step;
      insert(purchase);
    }
    time_ += step;
    rent_ -= gain * step;
    const double cost = weight_ * (time_ - release_) + rent_;
    if (cost < best_) {
      best_ = cost;
      best_time_ = time_;
    }
  }
}

double CheapestSeconds::find(const horizon::Job& job) {
  options_ = problem_.options_of(job);
  release_ = static_cast<double>(job.release);
  weight_ = problem_.cost_of(options_.front()).front().slope;
  double shortest = std::numeric_limits<double>::infinity();
  for (const auto& option : options_) {
    shortest = std::min(shortest, static_cast<double>(option.duration));
  }
  time_ = best_time_ = release_ + shortest;
  std::size_t k = buy_until(time_);
  best_ = weight_ * shortest + rent_;
  for (; !bought_.empty() && k <= prices_.intervals(); ++k) {
    if (weight_ * (std::max(time_, begin(k)) - release_) >= best_) break;
    sell_for(k);
  }
  return best_;
}

void CheapestSeconds::add_use(std::span<double> use) {
  (void)buy_until(best_time_);
  const std::size_t intervals = prices_.intervals();
  const auto add = [&](std::int32_t o, std::int32_t k, double seconds) {
    if (o < 0 || static_cast<std::size_t>(k) >= intervals) return;
    const horizon::Option& option = options_[static_cast<std::size_t>(o)];
    const PoolId pool = problem_.pools_of(option).front();
    const std::size_t curve = problem_.pools[pool.index()].curve.index();
    const double gpus = static_cast<double>(option.rent) / horizon::kRentUnit;
    use[curve * intervals + static_cast<std::size_t>(k)] += gpus * seconds;
  };
  for (const Purchase& purchase : bought_) {
    double rate = rate_of(options_[static_cast<std::size_t>(purchase.option)]);
    if (purchase.instead >= 0) {
      rate -= rate_of(options_[static_cast<std::size_t>(purchase.instead)]);
    }
    const double seconds = purchase.share / rate;
    add(purchase.option, purchase.interval, seconds);
    add(purchase.instead, purchase.interval, -seconds);
  }
}

}  // namespace berth::sim
