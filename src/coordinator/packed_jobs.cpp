// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/packed_jobs.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "berth/base/assert.hpp"

namespace berth::coordinator {
namespace {

using model::Job;
using model::TaskGroup;

template <class T>
using WordsOf = std::array<std::uint32_t, sizeof(T) / sizeof(std::uint32_t)>;

template <class T>
void append(PackedJobs& words, const T& value) {
  const auto raw = std::bit_cast<WordsOf<T>>(value);
  words.insert(words.end(), raw.begin(), raw.end());
}

template <class T>
T take(std::span<const std::uint32_t>& words) {
  WordsOf<T> raw;
  BERTH_EXPECT(words.size() >= raw.size());
  std::ranges::copy(words.first(raw.size()), raw.begin());
  words = words.subspan(raw.size());
  return std::bit_cast<T>(raw);
}

std::size_t count_jobs(std::span<const std::uint32_t> words) {
  std::size_t jobs = 0;
  for (; !words.empty(); ++jobs) {
    take<JobId>(words);
    const std::size_t groups = take<Job>(words).groups;
    words = words.subspan(groups * WordsOf<TaskGroup>{}.size());
  }
  return jobs;
}

}  // namespace

void pack_job(PackedJobs& words, JobId id, const Job& job, std::span<const TaskGroup> groups) {
  append(words, id);
  append(words, job);
  for (const TaskGroup& group : groups) append(words, group);
}

void reserve_jobs(model::JobSet& part, std::size_t jobs) {
  part.jobs.reserve(part.jobs.size() + jobs);
  part.groups.reserve(part.groups.size() + jobs);  // most jobs have one group
}

void unpack_jobs(std::span<const std::uint32_t> words, model::JobSet& part) {
  reserve_jobs(part, count_jobs(words));
  std::vector<TaskGroup> groups;
  while (!words.empty()) {
    const auto id = take<JobId>(words);
    const auto job = take<Job>(words);
    groups.clear();
    for (std::uint32_t g = 0; g < job.groups; ++g) groups.push_back(take<TaskGroup>(words));
    if (!part.has(id)) model::add_job(part, id, job, groups);
  }
}

}  // namespace berth::coordinator
