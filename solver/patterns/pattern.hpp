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
  int capacity = 0;  ///< free thousandths of the device
  std::vector<TypeCount> shares;
};

/// One feasible content of one machine of a bin type: a column of the relaxation.
struct MachinePattern {
  std::int32_t bin = 0;
  std::vector<TypeCount> tasks;       ///< all tasks, ascending type
  std::vector<DeviceShares> devices;  ///< shares of each device that holds some
};

/// Scaled value of one copy, rewards included.
double value_of(const PackingProblem& problem, const MachinePattern& pattern);
/// GPU thousandths that the pattern's tasks take on its bin type.
std::int64_t milli(const PackingProblem& problem, const MachinePattern& pattern);
/// Copies that the residual's demand and supply admit.
std::int64_t copies_within(const ResidualProblem& residual, const MachinePattern& pattern);
/// Subtracts `copies` (negative: adds) from the residual's demand and supply.
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
