// SPDX-License-Identifier: Apache-2.0
// Task groups are in the order of the records of their jobs.
#include "berth/model/job_set.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "berth/base/assert.hpp"

namespace berth::model {
namespace {

/// Shrinks the list and releases spare capacity: a few records borrowed for a round must not keep
/// the memory of all.
template <class T>
void cut(std::vector<T>& values, std::size_t size) {
  values.resize(size);
  if (values.capacity() - size > size / 4) values.shrink_to_fit();
}

}  // namespace

std::int64_t JobSet::tasks(const Job& job) const {
  std::int64_t total = 0;
  for (const TaskGroup& g : groups_of(job)) total += g.count;
  return total;
}

std::vector<JobId> local_jobs(const JobSet& jobs) {
  std::vector<JobId> ids;
  ids.reserve(jobs.jobs.size());
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (jobs.has(JobId(j))) ids.emplace_back(j);
  }
  return ids;
}

void make_part(JobSet& whole) {
  BERTH_EXPECT(!whole.in_parts());
  whole.position.resize(whole.jobs.size());
  std::iota(whole.position.begin(), whole.position.end(), 0);
}

void make_whole(JobSet& part) {
  BERTH_EXPECT(part.jobs.size() == part.size());
  std::vector<Job> jobs;
  std::vector<TaskGroup> groups;
  jobs.reserve(part.jobs.size());
  groups.reserve(part.groups.size());
  for (const std::int32_t at : part.position) {
    Job job = part.jobs[static_cast<std::size_t>(at)];
    const auto own = part.groups_of(job);
    job.first_group = static_cast<std::uint32_t>(groups.size());
    groups.insert(groups.end(), own.begin(), own.end());
    jobs.push_back(job);
  }
  part.jobs = std::move(jobs);
  part.groups = std::move(groups);
  part.position = {};
}

void add_job(JobSet& part, JobId id, const Job& job, std::span<const TaskGroup> groups) {
  BERTH_EXPECT(part.in_parts() && !part.has(id));
  part.position[id.index()] = static_cast<std::int32_t>(part.jobs.size());
  part.jobs.push_back(job);
  part.jobs.back().first_group = static_cast<std::uint32_t>(part.groups.size());
  part.groups.insert(part.groups.end(), groups.begin(), groups.end());
}

void keep_jobs(JobSet& part, std::span<const JobId> jobs) {
  BERTH_EXPECT(part.in_parts());
  std::vector<JobId> ids(part.jobs.size());  // in the order of the records
  for (std::size_t j = 0; j < part.size(); ++j) {
    if (part.has(JobId(j))) ids[static_cast<std::size_t>(part.position[j])] = JobId(j);
  }
  std::vector<char> stays(part.jobs.size(), 0);
  for (const JobId id : jobs) {
    if (part.has(id)) stays[static_cast<std::size_t>(part.position[id.index()])] = 1;
  }
  std::size_t kept = 0, groups = 0;
  for (std::size_t at = 0; at < ids.size(); ++at) {
    Job job = part.jobs[at];
    std::int32_t& position = part.position[ids[at].index()];
    position = JobSet::kMissing;
    if (stays[at] == 0) continue;
    position = static_cast<std::int32_t>(kept);
    const auto own = part.groups_of(job);
    std::ranges::copy(own, part.groups.begin() + static_cast<std::ptrdiff_t>(groups));
    job.first_group = static_cast<std::uint32_t>(groups);
    groups += own.size();
    part.jobs[kept++] = job;
  }
  cut(part.jobs, kept);
  cut(part.groups, groups);
}

void remove_added(JobSet& part, std::size_t size, std::span<const JobId> candidates) {
  BERTH_EXPECT(part.in_parts() && size <= part.jobs.size());
  if (size == part.jobs.size()) return;
  for (const JobId id : candidates) {
    std::int32_t& position = part.position[id.index()];
    if (position >= static_cast<std::int32_t>(size)) position = JobSet::kMissing;
  }
  part.groups.resize(part.jobs[size].first_group);
  part.jobs.resize(size);
}

}  // namespace berth::model
