// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "berth/horizon/capacity_profile.hpp"
#include "berth/horizon/problem.hpp"

namespace berth::horizon {

/// Marks of jobs on machines over time (Problem::neighbours): where a job may not be beside others.
/// Memory: a profile for each machine and mark that was ever set there.
class MachineMarks {
 public:
  explicit MachineMarks(const Problem& problem);

  /// False: every job may be beside every other.
  [[nodiscard]] bool used() const { return !machines_.empty(); }
  /// Earliest t in from .. until without a mark that the job avoids throughout [t, t + duration);
  /// kNever: none. O(marks avoided x log).
  [[nodiscard]] Seconds earliest_clear(std::size_t machine, Seconds from, Seconds duration,
                                       std::int32_t neighbours, Seconds until) const;
  [[nodiscard]] Seconds next_step(std::size_t machine, Seconds time) const;
  /// Sets the marks of a job in [from, to), or removes them when the sign is -1.
  void set(std::size_t machine, Seconds from, Seconds to, std::int32_t neighbours, int sign);

 private:
  const Problem& problem_;
  std::vector<bool> avoided_;                                      ///< by mark: by some job
  std::vector<std::map<std::int32_t, CapacityProfile>> machines_;  ///< less the jobs with the mark
};

}  // namespace berth::horizon
