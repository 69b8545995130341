// SPDX-License-Identifier: Apache-2.0
#include "pattern.hpp"

#include <algorithm>
#include <tuple>

namespace berth::solver {

double value_of(const PackingProblem& problem, const MachinePattern& pattern) {
  const std::size_t slot = problem.bins[static_cast<std::size_t>(pattern.bin)].slot;
  double sum = 0.0;
  for (const TypeCount& t : pattern.tasks) {
    sum += t.count * problem.types[static_cast<std::size_t>(t.type)].value[slot];
  }
  return sum;
}

std::int64_t milli(const PackingProblem& problem, const MachinePattern& pattern) {
  std::int64_t sum = 0;
  const BinType& bin = problem.bins[static_cast<std::size_t>(pattern.bin)];
  for (const TypeCount& t : pattern.tasks) {
    const model::Shape& s = problem.types[static_cast<std::size_t>(t.type)].shape;
    sum += t.count * (model::kGpuMilli * s.gpus + bin.share(s));
  }
  return sum;
}

std::int64_t copies_within(const ResidualProblem& residual, const MachinePattern& pattern) {
  std::int64_t n = residual.supply[static_cast<std::size_t>(pattern.bin)];
  for (const TypeCount& t : pattern.tasks) {
    n = std::min(n, residual.demand[static_cast<std::size_t>(t.type)] / t.count);
  }
  return n;
}

void take(ResidualProblem& residual, const MachinePattern& pattern, std::int64_t copies) {
  residual.supply[static_cast<std::size_t>(pattern.bin)] -= copies;
  for (const TypeCount& t : pattern.tasks) {
    residual.demand[static_cast<std::size_t>(t.type)] -= copies * t.count;
  }
}

double value_of(const PackingProblem& problem, const Usage& usage) {
  double sum = 0.0;
  for (const PatternUse& u : usage)
    sum += static_cast<double>(u.copies) * value_of(problem, u.pattern);
  return sum;
}

void canonicalise(Usage& usage) {
  const auto key = [](const PatternUse& u) { return std::tie(u.pattern.bin, u.pattern.tasks); };
  std::ranges::stable_sort(
      usage, [&](const PatternUse& a, const PatternUse& b) { return key(a) < key(b); });
  Usage joined;
  for (PatternUse& u : usage) {
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
