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

/// GPU shares that lie together on one device.
struct DeviceContent {
  int capacity = 0;  ///< free thousandths of the device it was made for
  std::vector<TypeCount> shares;
};

/// One feasible content of one machine of a state: a column of the relaxation.
struct Pattern {
  std::int32_t state = 0;
  std::vector<TypeCount> tasks;        ///< all tasks, ascending type
  std::vector<DeviceContent> devices;  ///< how its shares lie on devices
};

/// Scaled value, rewards included.
double worth(const Problem& problem, const Pattern& pattern);
/// GPU thousandths its tasks take there.
std::int64_t milli(const Problem& problem, const Pattern& pattern);
/// How many copies the scope admits, at most its supply of the state.
std::int64_t copies_within(const Scope& scope, const Pattern& pattern);
/// Takes `copies` (or gives back, negative) out of the scope.
void take(Scope& scope, const Pattern& pattern, std::int64_t copies);

/// Patterns with how often each is used: an integral plan by counts.
struct Used {
  Pattern pattern;
  std::int64_t copies = 0;
};
using Usage = std::vector<Used>;
double worth(const Problem& problem, const Usage& usage);
/// Joins equal patterns and puts them into (state, tasks) order; drops copies of 0.
void tidy(Usage& usage);

}  // namespace berth::solver
