// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <map>

#include "berth/horizon/problem.hpp"

namespace berth::horizon {
namespace {

/// O(outages^2) of one machine, which has few.
std::vector<CapacityStep> closed_steps(const std::vector<const Outage*>& outages, Seconds now) {
  std::vector<Seconds> times;
  for (const Outage* o : outages) {
    times.push_back(std::max(now, o->from));
    times.push_back(std::max(now, o->to));
  }
  std::ranges::sort(times);
  times.erase(std::ranges::unique(times).begin(), times.end());
  std::vector<CapacityStep> steps;
  for (const Seconds t : times) {
    std::uint64_t closed = 0;
    for (const Outage* o : outages) {
      if (o->from <= t && t < o->to) closed |= o->devices;
    }
    steps.push_back({.from = t, .gpus = std::popcount(closed)});
  }
  return steps;
}

}  // namespace

std::vector<ClosedGpus> closed_gpus(const Problem& problem) {
  std::map<MachineId, std::vector<const Outage*>> by_machine;
  for (const Outage& outage : problem.outages) by_machine[outage.machine].push_back(&outage);
  std::vector<ClosedGpus> result;
  for (const auto& [machine, outages] : by_machine) {
    result.push_back({.machine = machine, .steps = closed_steps(outages, problem.now)});
  }
  return result;
}

}  // namespace berth::horizon
