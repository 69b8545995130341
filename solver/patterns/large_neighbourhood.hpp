// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "column_generation.hpp"

#include <cstdint>

namespace berth::solver {

struct NeighbourhoodLimits {
  int rounds = 24;         ///< most rounds
  int machines = 100;      ///< machines freed in a round
  double target = 0.0;     ///< value of the usage at which the search stops, scaled
  double tolerance = 0.0;  ///< absolute gap of the repairs' relaxations, scaled
  std::uint64_t seed = 0;  ///< of the draws
};

/// Large neighbourhood search (Shaw 1998). Each round frees some machines (up to half of them
/// drawn from those with idle GPUs, the others from all), packs them anew by column generation,
/// dive and reoptimisation, and keeps the result unless its value is smaller. Edits `residual` and
/// `usage`. Returns the number of rounds.
int large_neighbourhood_search(const PackingProblem& problem, ResidualProblem& residual,
                               Usage& usage, const std::vector<MachinePattern>& patterns,
                               const NeighbourhoodLimits& limits, WorkBudget& budget);

}  // namespace berth::solver
