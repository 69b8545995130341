// SPDX-License-Identifier: Apache-2.0
#include "strads_factors.hpp"

#include <algorithm>
#include <cmath>

#include "berth/base/random.hpp"

namespace berth::bench {
namespace {

constexpr std::uint64_t kRatingDraws = 0xFAC7;

/// Uniform in [-1, 1).
double rating_draw(std::uint64_t seed, std::uint64_t what, std::uint64_t i, std::uint64_t k) {
  return 2.0 * random_unit({kRatingDraws, seed, what, i, k}) - 1.0;
}

/// Different items of a user: a walk with a stride that has no divisor in common with their number.
std::vector<std::uint32_t> items_of(std::size_t user, std::size_t count, std::size_t items,
                                    std::uint64_t seed) {
  constexpr std::size_t kPrime = 7'919;
  std::vector<std::uint32_t> chosen;
  const std::size_t begin = random_below(items, {kRatingDraws, seed, 1, user});
  for (std::size_t i = 0; i < count; ++i)
    chosen.push_back(static_cast<std::uint32_t>((begin + i * kPrime) % items));
  return chosen;
}

}  // namespace

Factorisation::Factorisation(const RatingSetting& setting, std::uint64_t seed)
    : setting_(setting),
      by_user_(setting.users),
      by_item_(setting.items),
      user_ratings_(setting.users),
      w_(setting.users * setting.rank),
      h_(setting.items * setting.rank) {
  double shares = 0.0;
  const auto share = [&](std::size_t u) {
    return std::pow(static_cast<double>(u) + 1.0, -setting.skew);
  };
  for (std::size_t u = 0; u < setting.users; ++u) shares += share(u);
  for (std::size_t u = 0; u < setting.users; ++u) {
    const double wanted = static_cast<double>(setting.ratings) * share(u) / shares;
    const auto count = static_cast<std::size_t>(
        std::clamp(std::round(wanted), 1.0, static_cast<double>(setting.items)));
    user_ratings_[u] = static_cast<std::int64_t>(count);
    for (const std::uint32_t item : items_of(u, count, setting.items, seed)) {
      double rating = 0.1 * rating_draw(seed, 2, u, item);
      for (std::size_t k = 0; k < setting.rank; ++k)
        rating += rating_draw(seed, 3, u, k) * rating_draw(seed, 4, item, k);
      by_user_[u].push_back(ratings_.size());
      by_item_[item].push_back(ratings_.size());
      ratings_.push_back({static_cast<std::uint32_t>(u), item, rating});
    }
  }
  // From W = 0 the residuals are the ratings.
  for (std::size_t i = 0; i < h_.size(); ++i) h_[i] = rating_draw(seed, 5, i, 0);
}

double Factorisation::objective() const {
  double sum = 0.0;
  for (const Rating& r : ratings_) sum += r.residual * r.residual;
  for (const double w : w_) sum += setting_.lambda * w * w;
  for (const double h : h_) sum += setting_.lambda * h * h;
  return sum;
}

double Factorisation::best(bool of_users, std::size_t index, std::size_t k) const {
  double product = 0.0, squares = setting_.lambda;
  const double own = factor(of_users, index, k);
  for (const std::size_t at : (of_users ? by_user_ : by_item_)[index]) {
    const Rating& r = ratings_[at];
    const double other = factor(!of_users, of_users ? r.item : r.user, k);
    product += (r.residual + own * other) * other;
    squares += other * other;
  }
  return product / squares;
}

void Factorisation::set(bool of_users, std::size_t index, std::size_t k, double value) {
  double& own = factor(of_users, index, k);
  for (const std::size_t at : (of_users ? by_user_ : by_item_)[index]) {
    Rating& r = ratings_[at];
    r.residual += (own - value) * factor(!of_users, of_users ? r.item : r.user, k);
  }
  own = value;
}

std::vector<double> Factorisation::all_best(bool of_users, std::size_t k) const {
  std::vector<double> values(of_users ? setting_.users : setting_.items);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = best(of_users, i, k);
  return values;
}

void Factorisation::set_all(bool of_users, std::size_t k, std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) set(of_users, i, k, values[i]);
}

void Factorisation::sweep() {
  for (std::size_t k = 0; k < setting_.rank; ++k) {
    for (const bool of_users : {true, false}) set_all(of_users, k, all_best(of_users, k));
  }
}

void Factorisation::sweep_both_sides_at_once() {
  for (std::size_t k = 0; k < setting_.rank; ++k) {
    const std::vector<double> users = all_best(true, k), items = all_best(false, k);
    set_all(true, k, users);
    set_all(false, k, items);
  }
}

double imbalance(std::span<const std::int64_t> loads, std::span<const int> worker, int workers) {
  std::vector<double> sum(static_cast<std::size_t>(workers), 0.0);
  double all = 0.0;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    sum[static_cast<std::size_t>(worker[i])] += static_cast<double>(loads[i]);
    all += static_cast<double>(loads[i]);
  }
  return std::ranges::max(sum) * workers / all;
}

}  // namespace berth::bench
