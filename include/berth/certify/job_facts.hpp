// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"

namespace berth::certify {

/// What machines and the guard against overflow must know of all jobs; no prices are needed.
struct JobFacts {
  /// Equal tasks of a bundle: one task, or all tasks of a job that always lies on one machine
  /// (bound.hpp, "Machines").
  struct TaskBundle {
    ShapeId shape;
    bool last = true;         ///< of its bundle
    std::int64_t count = 1;   ///< in the bundle
    std::uint64_t types = 0;  ///< where some job may have the bundle
    std::int64_t copies = 0;  ///< in all jobs; of single tasks only

    bool operator==(const TaskBundle&) const = default;
  };
  /// Trivially copyable, as TaskBundle is: both may be sent as they are.
  struct Totals {
    /// Sum over jobs of the most that any option can be worth and of stop and move cost; a job that
    /// asks for more GPUs than the cluster has has no option, and counts as 0. Each job's
    /// is rounded up to a whole number, and 2^90 where it is more or no number: integers add up the
    /// same in any order, where doubles would not. `unusable` compares this with 2^62 at least, so
    /// that it takes neither fractions nor more than 2^90 to tell, and 2^31 jobs stay exact.
    Int128 value = 0;
    Int128 milli = 0;         ///< GPU thousandths
    std::int64_t tasks = 0;   ///< below 2^63: counts are int32, groups less than 2^32
    std::int64_t broken = 0;  ///< jobs that do not take a whole number of GPUs in all
    std::int64_t mbps = 0;    ///< the most that one sends

    bool operator==(const Totals&) const = default;
  };

  Totals totals = {};
  std::vector<TaskBundle> tasks = {};  ///< bundle by bundle, each bundle once, in a fixed order

  /// Adds those of other jobs of the same instance. O(tasks of both).
  JobFacts& operator+=(const JobFacts& others);
  bool operator==(const JobFacts&) const = default;
};

/// @param jobs  of the instance, none of them pinned
/// O(task groups of the jobs + shapes).
JobFacts job_facts(const model::Instance& instance, model::Objective objective,
                   std::span<const JobId> jobs);

}  // namespace berth::certify
