// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/job_records.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/comm/lists.hpp"
#include "berth/comm/messages.hpp"

namespace berth::coordinator {
namespace {

constexpr std::size_t kAtOnce = std::size_t{1} << 13;  ///< jobs per message, 1 MiB: decision 19
constexpr std::size_t kBlock = 64;  ///< consecutive jobs with one home: decision 19

/// Room for so many more, or for a quarter more: a vector that doubles would need three times the
/// records, and one that grows by every message would copy them each time.
void reserve(model::JobSet& part, std::size_t jobs) {
  const auto grow = [&](auto& list) {
    const std::size_t wanted = list.size() + jobs;
    if (wanted > list.capacity()) list.reserve(std::max(wanted, list.capacity() * 5 / 4));
  };
  grow(part.jobs);
  grow(part.groups);  // most jobs have one
}

/// The jobs with ids in [first, first + kAtOnce). @pre each list is ascending
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

JobRecords::JobRecords(const comm::Communicator& comm, const model::WorkloadTables& tables,
                       model::JobSet& records)
    : comm_(&comm), workload_(tables, records) {
  const char holds_all = records.in_parts() ? 0 : 1;
  holds_all_ = comm.all_gather(holds_all);
  const auto parts = std::ranges::count(holds_all_, 0);
  if (parts > 0) records_ = &records;
  at_root_ = parts > 0 && holds_all_[0] != 0;
}

JobRecords JobRecords::of_replicated(const comm::Communicator& comm,
                                     const model::WorkloadView& workload) {
  return {Replicated{}, comm, workload};
}

int JobRecords::home_of(JobId job, int ranks) {
  return static_cast<int>(job.index() / kBlock % static_cast<std::size_t>(ranks));
}

int JobRecords::home(JobId job) const { return at_root_ ? 0 : home_of(job, comm_->size()); }

std::vector<JobId> JobRecords::home_jobs() const {
  std::vector<JobId> jobs = model::planned_jobs(workload_);
  std::erase_if(jobs, [&](JobId job) { return home(job) != comm_->rank(); });
  return jobs;
}

void JobRecords::scatter_homes() {
  if (records_ == nullptr) at_root_ = false;
  if (!at_root_) return;
  scatter([&] {
    JobLists lists(holds_all_.size());
    for (std::size_t j = 0; comm_->rank() == 0 && j < workload_.size(); ++j) {
      lists[static_cast<std::size_t>(home_of(JobId(j), comm_->size()))].emplace_back(j);
    }
    return lists;
  });
  at_root_ = false;
  holds_all_[0] = 0;
  if (comm_->rank() != 0) return;
  model::make_part(*records_);
  retain_only({});
}

void JobRecords::gather_to_root() {
  if (at_root_ || records_ == nullptr) {
    at_root_ = true;
    return;
  }
  scatter([&] {
    JobLists lists(holds_all_.size());
    lists.front() = home_jobs();
    return lists;
  });
  at_root_ = true;
  holds_all_[0] = 1;
  if (comm_->rank() == 0) model::make_whole(*records_);
}

void JobRecords::send(JobLists lists) {
  if (records_ == nullptr) return;
  lists.resize(holds_all_.size());
  std::vector<ByteWriter> to(lists.size());
  for (std::size_t r = 0; r < lists.size(); ++r) {
    const int rank = static_cast<int>(r);
    const bool lacks = holds_all_[r] == 0 && rank != comm_->rank();
    std::ranges::sort(lists[r]);
    const auto end = std::unique(lists[r].begin(), lists[r].end());
    for (auto id = lists[r].begin(); lacks && id != end; ++id) {
      if (home(*id) == rank) continue;
      BERTH_EXPECT(records_->has(*id));
      const model::Job& job = records_->job(*id);
      to[r](*id, job, records_->groups_of(job));
    }
  }
  add_records(comm::exchange_bytes(*comm_, std::move(to)), *records_);
}

void JobRecords::scatter(const std::function<JobLists()>& lists) {
  if (records_ == nullptr) return;
  JobLists all;
  comm_->agreed([&] {
    all = lists();
    for (auto& list : all) std::ranges::sort(list);
  });
  std::vector<std::int64_t> sizes;
  for (const auto& list : all) sizes.push_back(std::ssize(list));
  sizes.resize(holds_all_.size());
  comm_->sum(sizes);
  if (workload_.in_parts()) {
    reserve(*records_, static_cast<std::size_t>(sizes[static_cast<std::size_t>(comm_->rank())]));
  }
  for (std::size_t first = 0; first < workload_.size(); first += kAtOnce) {
    send(part_of(all, first));
  }
}

JobLists JobRecords::only_home(JobLists wanted) const {
  for (auto& list : wanted) {
    std::erase_if(list, [&](JobId job) { return home(job) != comm_->rank(); });
  }
  return wanted;
}

void JobRecords::fetch(std::span<const JobId> wanted) {
  if (records_ == nullptr) return;
  JobLists by_home(holds_all_.size());
  for (const JobId job : wanted) by_home[static_cast<std::size_t>(home(job))].push_back(job);
  const auto asked = comm::exchange_lists(*comm_, std::move(by_home));
  scatter([&] {
    JobLists lists;
    for (int r = 0; r < asked.ranks(); ++r) lists.emplace_back(asked[r].begin(), asked[r].end());
    return lists;
  });
}

void JobRecords::broadcast(std::span<const JobId> jobs) {
  if (records_ == nullptr) return;
  send(JobLists(holds_all_.size(), std::vector<JobId>(jobs.begin(), jobs.end())));
}

JobRecords::Borrowed::Borrowed(JobRecords& records, const std::vector<JobId>& jobs)
    : part_(records.comm_->rank() == 0 && records.distributed() && records.records_->in_parts()
                ? records.records_
                : nullptr) {
  if (part_ != nullptr) {
    had_ = part_->jobs.size();
    borrowed_ = jobs;
    part_->jobs.reserve(had_ + jobs.size());  // not twice the memory of all
  }
  records.send(records.only_home({jobs}));
}

JobRecords::Borrowed::~Borrowed() {
  if (part_ != nullptr) model::remove_added(*part_, had_, borrowed_);
}

JobRecords::Borrowed JobRecords::borrow(const std::vector<JobId>& jobs) { return {*this, jobs}; }

void JobRecords::retain_only(std::span<const JobId> jobs) {
  if (records_ == nullptr || !workload_.in_parts()) return;
  std::vector<JobId> all(jobs.begin(), jobs.end());
  std::ranges::move(home_jobs(), std::back_inserter(all));
  std::ranges::move(model::pinned_jobs(workload_.tables()), std::back_inserter(all));
  model::keep_jobs(*records_, all);
}

void JobRecords::retain_only(std::span<const solver::Shard> mine, const model::Placement& spanning,
                             std::vector<JobId> also) {
  if (records_ == nullptr) return;
  std::ranges::move(jobs_of(spanning), std::back_inserter(also));
  for (const solver::Shard& shard : mine) {
    std::ranges::move(shard.jobs(), std::back_inserter(also));
  }
  retain_only(also);
}

std::int64_t JobRecords::count_local() const {
  return records_ != nullptr && workload_.in_parts() ? std::ssize(records_->jobs) : 0;
}

void add_records(std::span<const char> messages, model::JobSet& part) {
  JobMessage next;
  std::size_t jobs = 0;
  for (ByteReader reader(messages); !reader.done(); ++jobs) reader(next);
  reserve(part, jobs);
  for (ByteReader reader(messages); !reader.done();) {
    reader(next);
    if (!part.has(next.id)) model::add_job(part, next.id, next.job, next.groups);
  }
}

std::vector<JobId> jobs_of(const model::Placement& placement) {
  std::vector<JobId> jobs;
  for (const model::JobPlacement& p : placement) jobs.push_back(p.job);
  return jobs;
}

}  // namespace berth::coordinator
