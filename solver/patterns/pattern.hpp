// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "packing_problem.hpp"

#include <compare>
#include <cstdint>
#include <vector>

namespace berth::solver {

struct TypeCount {
  std::int32_t type = 0;
  std::int32_t count = 0;
  auto operator<=>(const TypeCount&) const = default;
};

/// GPU shares placed together on one device.
struct DeviceShares {
  int capacity = 0;  ///< free thousandths of the device it was made for
  std::vector<TypeCount> shares;
};

/// One feasible content of one machine of a bin type: a column of the relaxation.
struct MachinePattern {
  std::int32_t bin = 0;
  std::vector<TypeCount> tasks;       ///< all tasks, ascending type
  std::vector<DeviceShares> devices;  ///< which shares are on which device
};

/// Scaled value, rewards included.
double value_of(const PackingProblem& problem, const MachinePattern& pattern);
/// GPU thousandths its tasks take there.
std::int64_t milli(const PackingProblem& problem, const MachinePattern& pattern);
/// How many copies the residual admits, at most its supply of the bin type.
std::int64_t copies_within(const ResidualProblem& residual, const MachinePattern& pattern);
/// Takes `copies` (or gives back, negative) out of the residual.
void take(ResidualProblem& residual, const MachinePattern& pattern, std::int64_t copies);

/// Patterns with how often each is used: an integral plan by counts.
struct PatternUse {
  MachinePattern pattern;
  std::int64_t copies = 0;
};
using Usage = std::vector<PatternUse>;
double value_of(const PackingProblem& problem, const Usage& usage);
/// Joins equal patterns and puts them into (bin type, tasks) order; drops copies of 0.
void canonicalise(Usage& usage);

}  // namespace berth::solver
