// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "column_generation.hpp"

#include <cstdint>

namespace berth::solver {

struct NeighbourhoodLimits {
  int rounds = 24;
  int machines = 100;      ///< freed at a time
  double target = 0.0;     ///< stop when the usage is worth this much (scaled)
  double tolerance = 0.0;  ///< of the relaxations solved on the way (scaled)
  std::uint64_t seed = 0;
};

/// Large neighbourhood search (Shaw 1998): frees some machines (up to half of them with idle GPUs,
/// the rest drawn), packs them anew by column generation, dive and reoptimisation, keeps what is
/// worth no less. Returns the rounds.
int large_neighbourhood_search(const PackingProblem& problem, ResidualProblem& residual,
                               Usage& usage, const std::vector<MachinePattern>& patterns,
                               const NeighbourhoodLimits& limits, WorkBudget& budget);

}  // namespace berth::solver
