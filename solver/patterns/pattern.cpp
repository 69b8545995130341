// SPDX-License-Identifier: Apache-2.0
#include "pattern.hpp"

#include <algorithm>
#include <tuple>

namespace berth::solver {

double worth(const Problem& problem, const Pattern& pattern) {
  const std::size_t slot = problem.states[static_cast<std::size_t>(pattern.state)].slot;
  double sum = 0.0;
  for (const TypeCount& t : pattern.tasks) {
    sum += t.count * problem.types[static_cast<std::size_t>(t.type)].value[slot];
  }
  return sum;
}

std::int64_t milli(const Problem& problem, const Pattern& pattern) {
  std::int64_t sum = 0;
  const MachineState& state = problem.states[static_cast<std::size_t>(pattern.state)];
  for (const TypeCount& t : pattern.tasks) {
    const model::Shape& s = problem.types[static_cast<std::size_t>(t.type)].shape;
    sum += t.count * (model::kGpuMilli * s.gpus + state.share(s));
  }
  return sum;
}

std::int64_t copies_within(const Scope& scope, const Pattern& pattern) {
  std::int64_t n = scope.supply[static_cast<std::size_t>(pattern.state)];
  for (const TypeCount& t : pattern.tasks) {
    n = std::min(n, scope.demand[static_cast<std::size_t>(t.type)] / t.count);
  }
  return n;
}

void take(Scope& scope, const Pattern& pattern, std::int64_t copies) {
  scope.supply[static_cast<std::size_t>(pattern.state)] -= copies;
  for (const TypeCount& t : pattern.tasks) {
    scope.demand[static_cast<std::size_t>(t.type)] -= copies * t.count;
  }
}

double worth(const Problem& problem, const Usage& usage) {
  double sum = 0.0;
  for (const Used& u : usage) sum += static_cast<double>(u.copies) * worth(problem, u.pattern);
  return sum;
}

void tidy(Usage& usage) {
  const auto key = [](const Used& u) { return std::tie(u.pattern.state, u.pattern.tasks); };
  std::ranges::stable_sort(usage, [&](const Used& a, const Used& b) { return key(a) < key(b); });
  Usage joined;
  for (Used& u : usage) {
    if (u.copies == 0 || u.pattern.tasks.empty()) continue;
    if (!joined.empty() && key(joined.back()) == key(u)) {
      joined.back().copies += u.copies;
    } else {
      joined.push_back(std::move(u));
    }
  }
  usage = std::move(joined);
}

}  // namespace berth::solver
