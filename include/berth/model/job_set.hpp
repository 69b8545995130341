// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/job.hpp"

namespace berth::model {

/// Records of jobs and their task groups: of all jobs in file order, or of a part of them. About
/// 120 B a job.
struct JobSet {
  static constexpr std::int32_t kMissing = -1;  ///< entry of `position` without a record

  std::vector<Job> jobs;  ///< by JobId, in a part by `position`
  /// In a part: index in `jobs` by JobId of the whole, or kMissing. Empty in a whole set.
  std::vector<std::int32_t> position;
  std::vector<TaskGroup> groups;  ///< in the order of `jobs`

  [[nodiscard]] bool in_parts() const { return !position.empty(); }
  /// Number of jobs of the whole.
  [[nodiscard]] std::size_t size() const { return in_parts() ? position.size() : jobs.size(); }
  [[nodiscard]] bool has(JobId id) const { return !in_parts() || position[id.index()] != kMissing; }
  /// @pre has(id), asserted in release builds too
  [[nodiscard]] const Job& job(JobId id) const {
    BERTH_ASSERT(has(id));
    return jobs[in_parts() ? static_cast<std::size_t>(position[id.index()]) : id.index()];
  }
  [[nodiscard]] std::span<const TaskGroup> groups_of(const Job& job) const {
    return std::span(groups).subspan(job.first_group, job.groups);
  }
  [[nodiscard]] std::int64_t tasks(const Job& job) const;  ///< over all groups
};

/// All jobs with a record, ascending, including the pinned ones.
std::vector<JobId> local_jobs(const JobSet& jobs);

/// Turns a whole set into a part with every job. O(jobs)
void make_part(JobSet& whole);
/// Turns a part with every job into a whole: sorts the records by JobId. O(jobs + groups) time;
/// holds the records twice meanwhile. @pre the part has every job
void make_whole(JobSet& part);

/// Adds a job to a part that lacks it and sets the index of its groups.
void add_job(JobSet& part, JobId id, const Job& job, std::span<const TaskGroup> groups);

/// Removes all jobs of a part but these. O(jobs of the whole), in place.
/// @param jobs  any order; jobs without a record are ignored
void keep_jobs(JobSet& part, std::span<const JobId> jobs);

/// Removes the jobs that were added after the part had `size` of them. O(candidates)
/// @param candidates  all of them, and others that stay; any order
void remove_added(JobSet& part, std::size_t size, std::span<const JobId> candidates);

}  // namespace berth::model
