// SPDX-License-Identifier: Apache-2.0
#include "berth/horizon/machine_marks.hpp"

#include <algorithm>

namespace berth::horizon {

MachineMarks::MachineMarks(const Problem& problem) : problem_(problem) {
  for (const Neighbours& row : problem.neighbours) {
    for (const std::int32_t mark : row.avoids) {
      const auto m = static_cast<std::size_t>(mark);
      if (avoided_.size() <= m) avoided_.resize(m + 1, false);
      avoided_[m] = true;
    }
  }
  if (avoided_.empty()) return;
  machines_.resize(problem.machines.size());
  for (const Outage& outage : problem.outages) {
    if (outage.neighbours < 0) continue;
    set(outage.machine.index(), outage.from, outage.to, outage.neighbours, 1);
  }
}

Seconds MachineMarks::earliest_clear(std::size_t machine, Seconds from, Seconds duration,
                                     std::int32_t neighbours, Seconds until) const {
  if (!used()) return from;
  const auto& marks = machines_[machine];
  Seconds start = from;
  for (Seconds before = kNever; start != before && start < kNever;) {
    before = start;
    for (const std::int32_t mark :
         problem_.neighbours[static_cast<std::size_t>(neighbours)].avoids) {
      const auto found = marks.find(mark);
      if (found == marks.end() || start >= kNever) continue;
      start = found->second.earliest_fit(start, duration, 0, until);
    }
  }
  return start;
}

Seconds MachineMarks::next_step(std::size_t machine, Seconds time) const {
  Seconds next = kNever;
  if (!used()) return next;
  for (const auto& [mark, profile] : machines_[machine]) {
    next = std::min(next, profile.next_step(time));
  }
  return next;
}

void MachineMarks::set(std::size_t machine, Seconds from, Seconds to, std::int32_t neighbours,
                       int sign) {
  if (!used()) return;
  for (const std::int32_t mark : problem_.neighbours[static_cast<std::size_t>(neighbours)].sets) {
    const auto m = static_cast<std::size_t>(mark);
    if (m >= avoided_.size() || !avoided_[m]) continue;
    const auto profile =
        machines_[machine].try_emplace(mark, CapacityProfile(problem_.now, 0)).first;
    profile->second.reserve(from, to, sign);
  }
}

}  // namespace berth::horizon
