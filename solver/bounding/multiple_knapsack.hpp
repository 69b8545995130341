// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace berth::solver::bounding {

/// 0/1 multiple knapsack problem with places within places (racks of pods, pods of a type): each
/// item is in one place or in none, and uses that place and those above it:
///
///   max sum_j u_jp x_jp  s.t.  sum_p x_jp <= 1,  sum_j sum_{p within q} s_j x_jp <= c_q
struct MultipleKnapsack {
  struct Place {
    std::int32_t above = -1;  ///< an earlier place; -1: none
    std::int32_t capacity = 0;
  };
  std::vector<Place> places;
  std::vector<std::int32_t> sizes;          ///< by item, > 0
  std::vector<std::vector<double>> values;  ///< item x place; not above 0: may not be there
};

struct MultipleKnapsackOptions {
  int evaluations = 300;            ///< of the dual
  std::int64_t steps = 20'000'000;  ///< look-ups of tables by the search
  std::int64_t cells = 1'000'000;   ///< of the tables; with more nothing is searched
};

struct MultipleKnapsackResult {
  std::vector<std::int32_t> place;  ///< by item; -1: none
  double value = 0.0;
  double bound = 0.0;     ///< no choice is worth more, up to rounding
  bool complete = false;  ///< the choice is best, up to rounding
};

/// Depth-first branch and bound, largest items first. The bound relaxes "each item once" by prices
/// y_j (subgradient steps) and has the rest of each outermost place as a 0/1 knapsack in a table by
/// items left and capacity left, so it is exact about what every place can still hold:
///
///   B = value + sum_{j left} y_j + sum_q T_q(items left, capacity left)
///
/// Only choices worth `bound - slack` are searched, with a slack that grows until one is found:
/// most nodes of a plain search have bounds below the optimum. Places that are alike and equally
/// full are tried once; a state that was reached with as much value before is left (by hash).
/// Deterministic; evaluations x cells + steps.
MultipleKnapsackResult solve(const MultipleKnapsack& problem,
                             const MultipleKnapsackOptions& options = {});

}  // namespace berth::solver::bounding
