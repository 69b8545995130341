// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"

namespace berth::certify {

/// Facts about all jobs for machine bounds and the guard against overflow; independent of prices.
struct JobFacts {
  /// Equal tasks of a bundle: one task, or all tasks of a job that always occupies one machine
  /// (bound.hpp, "Machines").
  struct BundleTasks {
    ShapeId shape;
    bool last = true;         ///< the last of its bundle
    std::int64_t count = 1;   ///< in the bundle
    std::uint64_t types = 0;  ///< GPU types on which some job may have the bundle
    std::int64_t copies = 0;  ///< number in all jobs; of single tasks only

    bool operator==(const BundleTasks&) const = default;
  };
  struct Totals {
    /// Sum over jobs of the largest value of any option and of stop and move cost; a job that asks
    /// for more GPUs than the cluster has counts as 0, because it has no option. Each job's sum is
    /// rounded up to an integer, and to 2^90 where it is larger or not a number: integer sums do
    /// not depend on the order, sums of doubles do. `unusable` compares this with 2^62 at least, so
    /// fractions and values above 2^90 do not matter, and 2^31 jobs stay exact.
    Int128 value = 0;
    Int128 milli = 0;         ///< GPU thousandths
    std::int64_t tasks = 0;   ///< below 2^63: counts are int32, groups less than 2^32
    std::int64_t broken = 0;  ///< jobs that do not take a whole number of GPUs in all
    std::int64_t mbps = 0;    ///< largest bandwidth of one job

    bool operator==(const Totals&) const = default;
  };

  Totals totals = {};
  std::vector<BundleTasks> tasks = {};  ///< bundle by bundle, each bundle once, in a fixed order

  /// Adds the facts of other jobs of this instance. O(tasks of both).
  JobFacts& operator+=(const JobFacts& others);
  bool operator==(const JobFacts&) const = default;
};

template <class Archive>
void describe(Archive& archive, JobFacts& facts) {
  archive(facts.totals, facts.tasks);
}

/// @param jobs  of the instance, none of them pinned
/// O(task groups of the jobs + shapes).
JobFacts job_facts(const model::InstanceView& instance, model::Objective objective,
                   std::span<const JobId> jobs);

}  // namespace berth::certify
