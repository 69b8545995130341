// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// The multi-dimensional knapsack: max sum u_i x_i with sum v_i^r x_i <= C^r, x_i 0 or 1.
namespace berth::papers {

struct Knapsack {
  std::vector<double> capacity = {};  ///< C^r, >= 0
  std::vector<double> utility = {};   ///< u_i, >= 0
  std::vector<double> size = {};      ///< v_i^r, >= 0: by item, then resource

  [[nodiscard]] std::size_t items() const { return utility.size(); }
  [[nodiscard]] std::size_t resources() const { return capacity.size(); }
  [[nodiscard]] std::span<const double> size_of(std::size_t item) const {
    return std::span(size).subspan(item * resources(), resources());
  }
};

struct KnapsackChoice {
  std::vector<char> taken = {};  ///< by item
  double utility = 0.0;
  bool proved = false;  ///< no choice is better
};

/// What the linear relaxation proves, and a vertex of it.
struct KnapsackRelaxation {
  double bound = 0.0;         ///< no choice has more; rounding 1e-12
  std::vector<double> price;  ///< by resource, those of the bound
  std::vector<double> x;      ///< at most one fractional value a resource
};
/// @pre a PetscSession lives. O((items + resources)^3) an iteration of the interior point method
[[nodiscard]] KnapsackRelaxation relax(const Knapsack& knapsack);

/// Items by utility over their size at the prices, then one item put in for one taken while that
/// gains. O(items^2 resources) a gain
[[nodiscard]] KnapsackChoice greedy_knapsack(const Knapsack& knapsack,
                                             std::span<const double> price);

/// Items as they come, or by falling utility, each if it fits: admission without a knapsack.
[[nodiscard]] KnapsackChoice first_fit_knapsack(const Knapsack& knapsack, bool by_utility);

/// Depth first, utilities bounded by the prices of the relaxation: items far from the prices are
/// decided first. `proved` unless the nodes end. @param nodes  most of them
[[nodiscard]] KnapsackChoice best_knapsack(const Knapsack& knapsack,
                                           std::int64_t nodes = 20'000'000);

/// The (1 - epsilon) scheme of Frieze and Clarke (1984), SMD's Algorithm 3: for every set of at
/// most k items a relaxation in which no other item of more utility than the least of them is
/// taken, rounded down. k = min(items, ceil(R (1 - epsilon) / epsilon)) gives the guarantee.
/// `proved` is never set. items^k relaxations. @pre a PetscSession lives
[[nodiscard]] KnapsackChoice frieze_clarke_knapsack(const Knapsack& knapsack, std::size_t k);

}  // namespace berth::papers
