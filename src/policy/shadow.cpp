// SPDX-License-Identifier: Apache-2.0
#include "berth/policy/shadow.hpp"

#include <algorithm>
#include <utility>

namespace berth::policy {

Shadow shadow_of(const State& state, JobId head, std::span<const GpuTypeId> types) {
  std::vector<std::pair<Micros, JobId>> ends;
  for (const JobId job : state.running()) ends.emplace_back(state.expected_end(job), job);
  std::ranges::sort(ends);
  FreeMachines machines = state.free();
  Shadow shadow;
  const auto fits_on = [&](GpuTypeId type) {
    return machines.place(state.demand(head), type, shadow.tasks);
  };
  for (std::size_t i = 0; i < ends.size(); ++i) {
    machines.release(state.demand(ends[i].second), state.progress(ends[i].second).tasks);
    if (i + 1 < ends.size() && ends[i + 1].first == ends[i].first) continue;
    if (!std::ranges::any_of(types, fits_on)) continue;
    shadow.time = ends[i].first;
    break;
  }
  return shadow;
}

}  // namespace berth::policy
