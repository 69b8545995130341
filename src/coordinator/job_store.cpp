// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/job_store.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/comm/lists.hpp"
#include "berth/coordinator/job_wire.hpp"

namespace berth::coordinator {
namespace {

using model::Workload;

constexpr std::size_t kAtOnce = std::size_t{1} << 13;  ///< jobs handed out at a time
constexpr std::size_t kBlock = 64;                     ///< jobs that are at home together

void pack(const Workload& workload, JobId id, JobWords& words) {
  BERTH_EXPECT(workload.has(id));
  const model::Job& job = workload.job(id);
  append_job(words, id, job, workload.groups_of(job));
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

JobStore::JobStore(const comm::Communicator& comm, Workload& workload)
    : comm_(&comm), jobs_(&workload) {
  const char whole = workload.in_parts() ? 0 : 1;
  whole_ = comm.all_gather(whole);
  const auto parts = std::ranges::count(whole_, 0);
  if (parts > 0) workload_ = &workload;
  at_root_ = parts > 0 && whole_[0] != 0;
}

JobStore JobStore::of_whole(const comm::Communicator& comm, const Workload& workload) {
  return {Whole{}, comm, workload};
}

int JobStore::home_of(JobId job, int ranks) {
  return static_cast<int>(job.index() / kBlock % static_cast<std::size_t>(ranks));
}

int JobStore::home(JobId job) const { return at_root_ ? 0 : home_of(job, comm_->size()); }

std::vector<JobId> JobStore::home_jobs() const {
  std::vector<JobId> jobs = model::planned_jobs(*jobs_);
  std::erase_if(jobs, [&](JobId job) { return home(job) != comm_->rank(); });
  return jobs;
}

void JobStore::spread() {
  if (!at_root_) return;
  hand_out([&] {
    JobLists lists(whole_.size());
    for (std::size_t j = 0; comm_->rank() == 0 && j < workload_->size(); ++j) {
      lists[static_cast<std::size_t>(home_of(JobId(j), comm_->size()))].emplace_back(j);
    }
    return lists;
  });
  at_root_ = false;
  whole_[0] = 0;
  if (comm_->rank() != 0) return;
  model::make_part(*workload_);
  keep({});
}

void JobStore::gather() {
  if (at_root_ || workload_ == nullptr) {
    at_root_ = true;
    return;
  }
  hand_out([&] {
    JobLists lists(whole_.size());
    lists.front() = home_jobs();
    return lists;
  });
  at_root_ = true;
  whole_[0] = 1;
  if (comm_->rank() == 0) model::make_whole(*workload_);
}

void JobStore::send(JobLists lists) const {
  if (workload_ == nullptr) return;
  lists.resize(whole_.size());
  JobWords words;
  std::vector<std::size_t> counts;
  for (std::size_t r = 0; r < lists.size(); ++r) {
    const std::size_t before = words.size();
    const int rank = static_cast<int>(r);
    const bool lacks = whole_[r] == 0 && rank != comm_->rank();
    std::ranges::sort(lists[r]);
    const auto end = std::unique(lists[r].begin(), lists[r].end());
    for (auto id = lists[r].begin(); lacks && id != end; ++id) {
      if (home(*id) != rank) pack(*workload_, *id, words);
    }
    counts.push_back(words.size() - before);
  }
  const auto got = comm_->all_to_all_varying<std::uint32_t>(words, counts);
  JobWords().swap(words);
  add_jobs(got.values, *workload_);
}

void JobStore::hand_out(const std::function<JobLists()>& lists) const {
  if (workload_ == nullptr) return;
  JobLists all;
  comm_->agreed([&] {
    all = lists();
    for (auto& list : all) std::ranges::sort(list);
  });
  std::vector<std::int64_t> sizes;
  for (const auto& list : all) sizes.push_back(std::ssize(list));
  sizes.resize(whole_.size());
  comm_->sum(sizes);
  if (workload_->in_parts()) {
    make_room(*workload_, static_cast<std::size_t>(sizes[static_cast<std::size_t>(comm_->rank())]));
  }
  for (std::size_t first = 0; first < workload_->size(); first += kAtOnce) {
    send(part_of(all, first));
  }
}

JobLists JobStore::from_home(JobLists wanted) const {
  for (auto& list : wanted) {
    std::erase_if(list, [&](JobId job) { return home(job) != comm_->rank(); });
  }
  return wanted;
}

void JobStore::fetch(std::span<const JobId> wanted) const {
  if (workload_ == nullptr) return;
  JobLists by_home(whole_.size());
  for (const JobId job : wanted) by_home[static_cast<std::size_t>(home(job))].push_back(job);
  const auto asked = comm::exchange_lists(*comm_, std::move(by_home));
  hand_out([&] {
    JobLists lists;
    for (int r = 0; r < asked.ranks(); ++r) lists.emplace_back(asked[r].begin(), asked[r].end());
    return lists;
  });
}

void JobStore::show(std::span<const JobId> jobs) const {
  if (workload_ == nullptr) return;
  send(JobLists(whole_.size(), std::vector<JobId>(jobs.begin(), jobs.end())));
}

JobStore::Guests::Guests(const JobStore& store, const std::vector<JobId>& jobs)
    : part_(store.comm_->rank() == 0 && store.in_parts() && store.workload_->in_parts()
                ? store.workload_
                : nullptr) {
  if (part_ != nullptr) had_ = model::jobs_here(*part_);
  store.send(store.from_home({jobs}));
}

JobStore::Guests::~Guests() {
  if (part_ != nullptr) model::keep_jobs(*part_, had_);
}

JobStore::Guests JobStore::invite(const std::vector<JobId>& jobs) const { return {*this, jobs}; }

void JobStore::keep(std::span<const JobId> jobs) const {
  if (workload_ == nullptr || !workload_->in_parts()) return;
  std::vector<JobId> all(jobs.begin(), jobs.end());
  std::ranges::move(home_jobs(), std::back_inserter(all));
  model::keep_jobs(*workload_, all);
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
