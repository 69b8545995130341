// SPDX-License-Identifier: Apache-2.0
#include "room.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace berth::papers {
namespace {

constexpr double kLeastGain = 1e-10;  ///< relative gain of utility that is not searched for

/// Depth-first search. At prices p a node with room B has at most
/// u(taken) + p B + sum over open items of max(0, u - p v): what it loses to the root's bound is
/// the sum of |u - p v| over decisions against the sign.
class KnapsackSearch {
 public:
  KnapsackSearch(const Knapsack& knapsack, const KnapsackRelaxation& relaxation, std::int64_t nodes)
      : knapsack_(knapsack), room_(knapsack), nodes_(nodes), bound_(relaxation.bound) {
    best_ = greedy_knapsack(knapsack, relaxation.price);
    taken_.assign(knapsack.items(), 0);
    reduced_ = knapsack.utility;
    for (std::size_t i = 0; i < reduced_.size(); ++i) {
      const auto size = knapsack.size_of(i);
      for (std::size_t r = 0; r < size.size(); ++r) reduced_[i] -= relaxation.price[r] * size[r];
    }
    order_.resize(knapsack.items());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::stable_sort(order_, std::greater(),
                             [&](std::size_t i) { return std::abs(reduced_[i]); });
    rest_.assign(order_.size() + 1, 0.0);
    for (std::size_t k = order_.size(); k-- > 0;) {
      rest_[k] = rest_[k + 1] + std::max(knapsack.utility[order_[k]], 0.0);
    }
  }

  KnapsackChoice run() {
    descend(0, bound_, 0.0);
    best_.proved = nodes_ > 0;
    return std::move(best_);
  }

 private:
  [[nodiscard]] double needed() const { return best_.utility * (1.0 + kLeastGain); }

  void descend(std::size_t depth, double bound, double utility) {
    if (nodes_ <= 0 || std::min(bound, utility + rest_[depth]) <= needed()) return;
    --nodes_;
    if (depth == order_.size()) {
      best_.taken = taken_;
      best_.utility = utility;
      return;
    }
    const std::size_t i = order_[depth];
    const double loss = std::abs(reduced_[i]);
    const bool wants = reduced_[i] > 0.0;
    for (const bool take : {wants, !wants}) {
      const double child = take == wants ? bound : bound - loss;
      if (!take) {
        descend(depth + 1, child, utility);
      } else if (room_.fits(i)) {
        room_.take(i);
        taken_[i] = 1;
        descend(depth + 1, child, utility + knapsack_.utility[i]);
        taken_[i] = 0;
        room_.put_back(i);
      }
    }
  }

  const Knapsack& knapsack_;
  KnapsackRoom room_;
  std::int64_t nodes_;
  double bound_;
  KnapsackChoice best_;
  std::vector<char> taken_;
  std::vector<double> reduced_;     ///< by item: utility - p v
  std::vector<std::size_t> order_;  ///< falling |reduced|
  std::vector<double> rest_;        ///< by depth: utility of the items that are open
};

}  // namespace

KnapsackChoice best_knapsack(const Knapsack& knapsack, std::int64_t nodes) {
  return KnapsackSearch(knapsack, relax(knapsack), nodes).run();
}

}  // namespace berth::papers
