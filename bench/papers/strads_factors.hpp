// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::bench {

/// Ratings of users for items by a power law, of a matrix of low rank with noise.
struct RatingSetting {
  std::size_t users = 2'000, items = 300;
  std::size_t ratings = 40'000;
  double skew = 0.8;  ///< user u has ratings in proportion to (u + 1)^-skew, at most all items
  std::size_t rank = 8;
  double lambda = 0.05;
};

struct Rating {
  std::uint32_t user = 0, item = 0;
  double residual = 0.0;  ///< rating less what the factors say
};

/// min sum over ratings (a_ui - w_u' h_i)^2 + lambda (|W|^2 + |H|^2), by coordinates: for each rank
/// index all users, then all items. Users of one rank index do not depend on each other given H.
class Factorisation {
 public:
  Factorisation(const RatingSetting& setting, std::uint64_t seed);

  [[nodiscard]] double objective() const;
  [[nodiscard]] std::span<const std::int64_t> ratings_of_users() const { return user_ratings_; }
  /// Best value of w_uk (of_users) or h_ik, all others as they are.
  [[nodiscard]] double best(bool of_users, std::size_t index, std::size_t k) const;
  void set(bool of_users, std::size_t index, std::size_t k, double value);
  /// A sweep over all rank indices: users, then items, each side from one state.
  void sweep();
  /// The same with both sides of a rank index from one state: their dependency ignored.
  void sweep_both_sides_at_once();

 private:
  [[nodiscard]] double& factor(bool of_users, std::size_t index, std::size_t k) {
    return (of_users ? w_ : h_)[index * setting_.rank + k];
  }
  [[nodiscard]] double factor(bool of_users, std::size_t index, std::size_t k) const {
    return (of_users ? w_ : h_)[index * setting_.rank + k];
  }
  [[nodiscard]] std::vector<double> all_best(bool of_users, std::size_t k) const;
  void set_all(bool of_users, std::size_t k, std::span<const double> values);

  RatingSetting setting_;
  std::vector<Rating> ratings_;
  std::vector<std::vector<std::size_t>> by_user_, by_item_;
  std::vector<std::int64_t> user_ratings_;
  std::vector<double> w_, h_;
};

/// Ratings of the busiest worker over the mean of all, for an assignment of users to workers.
double imbalance(std::span<const std::int64_t> loads, std::span<const int> worker, int workers);

}  // namespace berth::bench
