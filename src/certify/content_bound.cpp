// SPDX-License-Identifier: Apache-2.0
#include "content_bound.hpp"

#include "content_search.hpp"
#include "counted_knapsack.hpp"
#include "least_relaxation.hpp"
#include "relaxed_knapsack.hpp"

#include <algorithm>

namespace berth::certify {
namespace {

/// Fewest and most evaluations of the relaxation. Chosen, not tuned.
constexpr std::size_t kFewest = 5, kMost = 50;

/// Evaluations that fill so many cells, within these limits.
int evaluations(const MachineKnapsack& knapsack, std::size_t cells) {
  const std::size_t each = (knapsack.tasks().size() + 1) * (knapsack.whole() + 1) +
                           (knapsack.shares().size() + 1) * (knapsack.width() + 1);
  return static_cast<int>(std::clamp(cells / each, kFewest, kMost));
}

}  // namespace

Int128 content_bound(const MachineRoom& room, std::span<const KnapsackItem> items,
                     const ContentWork& work) {
  const MachineKnapsack knapsack(room, items);
  RelaxedKnapsack relaxed(knapsack);
  const LeastRelaxation least =
      least_relaxation(knapsack, relaxed, evaluations(knapsack, work.cells));
  if (least.attained >= least.bound) return least.bound;
  Int128 bound = least.bound;
  for (const std::size_t r : knapsack.binding()) {
    const CountedKnapsack counted(knapsack, least.multipliers, r, work.cells);
    bound = std::min(bound, counted.bound());
    if (counted.exact() || least.attained >= bound) return bound;
  }
  return std::min(bound, ContentSearch(knapsack, relaxed, least.attained).most(work.labels));
}

}  // namespace berth::certify
