// SPDX-License-Identifier: Apache-2.0
#include "room.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "berth/base/assert.hpp"
#include "berth/solver/packing_covering.hpp"

namespace berth::papers {
namespace {

constexpr double kTaken = 1e-7;  ///< a value this near to 1 is taken

/// Relaxation over the items that are open, with this capacity.
solver::PackingCoveringSolution relax_items(const Knapsack& knapsack,
                                            std::span<const std::size_t> open,
                                            std::span<const double> capacity) {
  solver::PackingCoveringProgram program;
  for (const double c : capacity) program.add_packing_row(std::max(c, 0.0));
  for (const std::size_t i : open) {
    solver::PackingCoveringProgram::Column column{-knapsack.utility[i], {}, {}, 1.0};
    const auto size = knapsack.size_of(i);
    for (std::size_t r = 0; r < size.size(); ++r) column.packing.push_back({r, size[r]});
    program.add_column(std::move(column));
  }
  return solver::solve(program);
}

/// Sets of up to k items, in lexicographic order, each with the rounded relaxation around it.
class FriezeClarke {
 public:
  FriezeClarke(const Knapsack& knapsack, std::size_t k)
      : knapsack_(knapsack), room_(knapsack), k_(k) {
    best_.taken.assign(knapsack.items(), 0);
  }

  KnapsackChoice run() {
    extend(0);
    return std::move(best_);
  }

 private:
  void extend(std::size_t from) {
    complete();
    if (set_.size() == k_) return;
    for (std::size_t i = from; i < knapsack_.items(); ++i) {
      if (!room_.fits(i)) continue;  // neither does any larger set
      room_.take(i);
      set_.push_back(i);
      extend(i + 1);
      set_.pop_back();
      room_.put_back(i);
    }
  }

  void complete() {
    double least = std::numeric_limits<double>::infinity();
    for (const std::size_t i : set_) least = std::min(least, knapsack_.utility[i]);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < knapsack_.items(); ++i) {
      if (knapsack_.utility[i] <= least && !std::ranges::binary_search(set_, i)) open.push_back(i);
    }
    KnapsackChoice choice;
    choice.taken.assign(knapsack_.items(), 0);
    for (const std::size_t i : set_) take(choice, i);
    const std::vector<double> x = relax_items(knapsack_, open, room_.left()).x;
    KnapsackRoom room = room_;
    for (std::size_t k = 0; k < open.size(); ++k) {
      if (x[k] < 1.0 - kTaken || !room.fits(open[k])) continue;
      room.take(open[k]);
      take(choice, open[k]);
    }
    if (choice.utility > best_.utility) best_ = std::move(choice);
  }

  void take(KnapsackChoice& choice, std::size_t item) const {
    choice.taken[item] = 1;
    choice.utility += knapsack_.utility[item];
  }

  const Knapsack& knapsack_;
  KnapsackRoom room_;
  std::size_t k_;
  std::vector<std::size_t> set_;  ///< ascending
  KnapsackChoice best_;
};

}  // namespace

KnapsackRelaxation relax(const Knapsack& knapsack) {
  BERTH_EXPECT(knapsack.size.size() == knapsack.items() * knapsack.resources());
  std::vector<std::size_t> all(knapsack.items());
  std::iota(all.begin(), all.end(), std::size_t{0});
  auto solution = relax_items(knapsack, all, knapsack.capacity);
  return {-solution.bound, std::move(solution.packing_price), std::move(solution.x)};
}

KnapsackChoice frieze_clarke_knapsack(const Knapsack& knapsack, std::size_t k) {
  return FriezeClarke(knapsack, k).run();
}

}  // namespace berth::papers
