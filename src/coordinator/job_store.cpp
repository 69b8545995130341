// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/job_store.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <utility>

#include "berth/base/assert.hpp"

namespace berth::coordinator {
namespace {

using model::Job;
using model::TaskGroup;
using model::Workload;
using Words = std::vector<std::uint32_t>;

constexpr std::size_t kAtOnce = std::size_t{1} << 13;  ///< jobs handed out at a time

template <class T>
using WordsOf = std::array<std::uint32_t, sizeof(T) / sizeof(std::uint32_t)>;

template <class T>
void append(Words& words, const T& value) {
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

/// A job is its id, its record, its task groups.
void pack(const Workload& workload, JobId id, Words& words) {
  BERTH_EXPECT(workload.has(id));
  const Job& job = workload.job(id);
  append(words, id);
  append(words, job);
  for (const TaskGroup& group : workload.groups_of(job)) append(words, group);
}

/// Room for so many more, no more: a vector that doubles would need three times the records.
void make_room(Workload& workload, std::size_t jobs) {
  workload.jobs.reserve(workload.jobs.size() + jobs);
  workload.groups.reserve(workload.groups.size() + jobs);  // most have one
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

void unpack(std::span<const std::uint32_t> words, Workload& workload) {
  make_room(workload, count_jobs(words));
  std::vector<TaskGroup> groups;
  while (!words.empty()) {
    const auto id = take<JobId>(words);
    const auto job = take<Job>(words);
    groups.clear();
    for (std::uint32_t g = 0; g < job.groups; ++g) groups.push_back(take<TaskGroup>(words));
    if (!workload.has(id)) model::add_job(workload, id, job, groups);
  }
}

/// Those with ids in [first, first + kAtOnce). @pre each list ascends
JobLists part_of(const JobLists& lists, std::size_t first) {
  JobLists part(lists.size());
  for (std::size_t r = 0; r < lists.size(); ++r) {
    const auto begin = std::ranges::lower_bound(lists[r], JobId(first));
    const auto end = std::lower_bound(begin, lists[r].end(), JobId(first + kAtOnce));
    part[r].assign(begin, end);
  }
  return part;
}

}  // namespace

JobStore::JobStore(const comm::Communicator& comm, Workload& workload) : comm_(&comm) {
  BERTH_EXPECT(comm.rank() != 0 || !workload.in_parts());
  const char whole = workload.in_parts() ? 0 : 1;
  whole_ = comm.all_gather(whole);
  if (std::ranges::count(whole_, 0) > 0) workload_ = &workload;
}

void JobStore::send(JobLists lists) const {
  if (workload_ == nullptr) return;
  lists.resize(whole_.size());
  Words words;
  std::vector<std::size_t> counts;
  for (std::size_t r = 0; r < lists.size(); ++r) {
    const std::size_t before = words.size();
    const bool lacks = whole_[r] == 0 && r != static_cast<std::size_t>(comm_->rank());
    std::ranges::sort(lists[r]);
    const auto end = std::unique(lists[r].begin(), lists[r].end());
    for (auto id = lists[r].begin(); lacks && id != end; ++id) pack(*workload_, *id, words);
    counts.push_back(words.size() - before);
  }
  const auto got = comm_->all_to_all_varying<std::uint32_t>(words, counts);
  Words().swap(words);
  unpack(got.values, *workload_);
}

void JobStore::hand_out(const std::function<JobLists()>& lists) const {
  if (workload_ == nullptr) return;
  JobLists all;
  comm_->agreed([&] {
    if (comm_->rank() == 0) all = lists();
    for (auto& list : all) std::ranges::sort(list);
  });
  std::vector<std::uint64_t> sizes;
  for (const auto& list : all) sizes.push_back(list.size());
  sizes.resize(whole_.size());
  comm_->broadcast(std::span(sizes));
  if (workload_->in_parts()) {
    make_room(*workload_, sizes[static_cast<std::size_t>(comm_->rank())]);
  }
  for (std::size_t first = 0; first < workload_->size(); first += kAtOnce) {
    send(part_of(all, first));
  }
}

void JobStore::show(std::span<const JobId> jobs) const {
  if (workload_ == nullptr) return;
  send(JobLists(whole_.size(), std::vector<JobId>(jobs.begin(), jobs.end())));
}

void JobStore::keep(std::span<const JobId> jobs) const {
  if (workload_ != nullptr && workload_->in_parts()) model::keep_jobs(*workload_, jobs);
}

void JobStore::keep(std::span<const solver::Shard> mine, const model::Placement& spanning,
                    std::vector<JobId> also) const {
  if (workload_ == nullptr) return;
  std::ranges::move(jobs_of(spanning), std::back_inserter(also));
  for (const solver::Shard& shard : mine) {
    std::ranges::move(shard.jobs(), std::back_inserter(also));
  }
  keep(also);
}

std::int64_t JobStore::held() const {
  return workload_ != nullptr && workload_->in_parts() ? std::ssize(workload_->jobs) : 0;
}

std::vector<JobId> jobs_of(const model::Placement& placement) {
  std::vector<JobId> jobs;
  for (const model::JobPlacement& p : placement) jobs.push_back(p.job);
  return jobs;
}

}  // namespace berth::coordinator
