// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "berth/base/strong_id.hpp"

namespace berth::model {

inline constexpr std::int64_t kNotGiven = -1;  ///< a time in seconds that the file does not have
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();  ///< no deadline

/// When a job may run, and how long. Times are whole seconds on the axis of Job::arrival. Jobs with
/// equal rows share one row of WorkloadTables::time_rules. A plan of one moment ignores the rows.
struct TimeRules {
  std::int64_t duration = kNotGiven;  ///< seconds from start to end at speed 1
  std::int64_t limit = kNotGiven;     ///< most seconds from start to end on any machine
  std::int64_t not_before = 0;        ///< earliest start
  std::int64_t deadline = kNever;     ///< latest end
  /// Seconds of work between two checkpoints; not given: a stopped job loses all its work.
  std::int64_t checkpoint_every = kNotGiven;
  std::int64_t restart_cost = 0;     ///< seconds without progress after a stop or a move
  std::uint32_t utility = 0;         ///< row of WorkloadTables::utilities
  std::uint32_t configurations = 0;  ///< row of WorkloadTables::configurations
  bool preemptible = false;          ///< may be stopped and go on later

  bool operator==(const TimeRules&) const = default;

  /// What a run takes: the duration at speed 1, else the limit at any speed, else kNotGiven.
  [[nodiscard]] std::int64_t seconds() const { return duration != kNotGiven ? duration : limit; }
};

struct UtilityPoint {
  std::int64_t seconds = 0;  ///< from arrival to completion
  double factor = 1.0;       ///< 0 .. 1

  bool operator==(const UtilityPoint&) const = default;
};

/// Factor of a job's value by the seconds from its arrival to its completion: never rises. It is
/// linear between points, or a step: the factor of a point holds for completions after its second,
/// until and with the second of the next point. The last factor holds for ever.
struct Utility {
  bool steps = false;
  std::vector<UtilityPoint> points = {};  ///< ascending from second 0; empty: 1 at all times

  bool operator==(const Utility&) const = default;
};

/// For a completion so many seconds after the arrival. O(points)
[[nodiscard]] double factor_after(const Utility& utility, double seconds);

template <class Archive>
void describe(Archive& archive, Utility& utility) {
  archive(utility.steps, utility.points);
}

/// One way to run an elastic job.
struct Configuration {
  static constexpr double kOwnValue = -1.0;

  std::vector<std::int32_t> counts;  ///< tasks by group of the job; not all 0
  double speed = 1.0;                ///< work per second, 1 = as `duration` says; > 0
  double value = kOwnValue;          ///< >= 0: replaces the job's value before its factors

  bool operator==(const Configuration&) const = default;
};

template <class Archive>
void describe(Archive& archive, Configuration& configuration) {
  archive(configuration.counts, configuration.speed, configuration.value);
}

/// `job` starts no earlier than `after` ends.
struct Dependency {
  JobId job;
  JobId after;

  auto operator<=>(const Dependency&) const = default;
};

}  // namespace berth::model
