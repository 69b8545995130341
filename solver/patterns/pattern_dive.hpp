// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pattern.hpp"

#include <span>
#include <vector>

namespace berth::solver {

struct Dived {
  Usage usage;
  int rounds = 0;
};

/// Makes a fractional usage integral: whole copies are fixed, large fractions rounded up, the rest
/// re-solved to `tolerance` (scaled value) by column generation with what is still open, until
/// nothing is left to fix. Takes what it fixes out of `residual`.
Dived dive(const PackingProblem& problem, ResidualProblem& residual,
           std::vector<MachinePattern> patterns, std::vector<double> usage, double tolerance);

}  // namespace berth::solver
