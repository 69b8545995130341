// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/occupancy.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/parallel/loops.hpp"

namespace berth::solver {

using model::JobPlacement;

namespace {

/// A lambda, because the merge does not inline a call by pointer to member.
constexpr auto kJob = [](const JobEntry& entry) { return entry.job(); };

std::vector<Occupancy::EvictionOrder> empty_lists(const planner_model::LimitUsage& limit_usage) {
  return std::vector<Occupancy::EvictionOrder>(
      limit_usage.limits() == nullptr ? 0 : limit_usage.limits()->of_queues());
}

}  // namespace

Occupancy::Occupancy(const planner_model::Valuation& valuation, std::span<const MachineId> machines,
                     const planner_model::CouplingLimits* limits)
    : valuation_(&valuation),
      machines_(machines.begin(), machines.end()),
      room_(valuation.instance().cluster, machines),
      index_(valuation.instance().cluster, machines),
      limit_usage_(valuation.instance(), limits),
      occupants_(machines.size()),
      by_quota_(empty_lists(limit_usage_)) {
  room_.add_pinned(valuation.instance().workload.tables());
  room_.keep_low(valuation.fragmentation());
}

void Occupancy::admit(std::span<const JobId> jobs) {
  std::vector<JobId> fresh;
  std::ranges::copy_if(jobs, std::back_inserter(fresh), [&](JobId job) { return !holds(job); });
  std::ranges::sort(fresh);
  fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
  if (fresh.empty()) return;
  const auto held = std::ssize(entries_);
  const bool last = jobs_.empty() || jobs_.back() < fresh.front();
  for (const JobId job : fresh) entries_.push_back({.placement = {.job = job, .tasks = {}}});
  if (last) {
    jobs_.insert(jobs_.end(), fresh.begin(), fresh.end());
    return;
  }
  std::ranges::inplace_merge(entries_, entries_.begin() + held, {}, kJob);
  jobs_.resize(entries_.size());
  std::ranges::transform(entries_, jobs_.begin(), kJob);
}

void Occupancy::forget(JobId job) {
  if (!holds(job)) return;
  const auto at = entries_.begin() + static_cast<std::ptrdiff_t>(position(job));
  BERTH_EXPECT(!at->is_placed());
  jobs_.erase(jobs_.begin() + (at - entries_.begin()));
  entries_.erase(at);
}

bool Occupancy::holds(JobId job) const {
  const std::size_t at = position(job);
  return at < jobs_.size() && jobs_[at] == job;
}

std::size_t Occupancy::position(JobId job) const {
  // mostly all jobs of a range of ids
  const std::size_t guess = jobs_.empty() ? 0 : job.index() - jobs_.front().index();
  if (guess < jobs_.size() && jobs_[guess] == job) return guess;
  return static_cast<std::size_t>(std::ranges::lower_bound(jobs_, job) - jobs_.begin());
}

std::optional<JobPlacement> Occupancy::fit(JobId job, std::span<const MachineId> machines) {
  const model::WorkloadView& workload = valuation_->instance().workload;
  auto placement = planner_model::place_job(room_, workload, job, machines, &limit_usage_);
  if (placement) planner_model::release(room_, workload, *placement);
  if (placement && !limit_usage_.carries(*placement)) placement.reset();
  return placement;
}

bool Occupancy::is_free(const JobPlacement& placement) {
  return planner_model::is_free(room_, valuation_->instance().workload, placement);
}

void Occupancy::take(JobPlacement placement) {
  planner_model::take(room_, valuation_->instance().workload, placement);
  record(std::move(placement));
}

void Occupancy::take(model::Placement placements) {
  std::vector<JobId> jobs(placements.size());
  std::ranges::transform(placements, jobs.begin(), &JobPlacement::job);
  admit(jobs);
  std::vector<Occupant> whole(placements.size());
  std::vector<std::size_t> at(placements.size());
  parallel::sweep(placements.size(), [&](std::size_t p) {
    at[p] = position(jobs[p]);
    JobEntry& entry = entries_[at[p]];
    BERTH_EXPECT(!entry.is_placed());
    entry.placement = std::move(placements[p]);
    value_entry(entry);
    whole[p] = occupant_of(entry);
  });
  take_by_machine(at, whole);
  for (std::size_t p = 0; p < at.size(); ++p) {
    const JobPlacement& placed = entries_[at[p]].placement;
    planner_model::enter(room_, valuation_->instance().workload, placed);
    limit_usage_.add(placed);
    add_to_quotas(whole[p].precedence);
    if (marks_ > 0) journal_.push_back({jobs[p], {}});
  }
}

/// Takes room and enters occupants, each machine in the order of the jobs.
/// @param at  positions of the jobs among the entries
void Occupancy::take_by_machine(std::span<const std::size_t> at, std::span<const Occupant> jobs) {
  struct Piece {  // copied in the order of the jobs: reading it from them would miss the caches
    model::TaskPlacement task;
    ShapeId shape;
    std::uint32_t job;  ///< index in `jobs`
  };
  std::vector<std::size_t> first(machines_.size() + 1, 0);  // by slot, into `pieces`
  for (const std::size_t position : at) {
    for (const auto& task : entries_[position].placement.tasks) {
      ++first[room_.slot(task.machine) + 1];
    }
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<Piece> pieces(first.back());
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  const model::WorkloadView& workload = valuation_->instance().workload;
  for (std::uint32_t j = 0; j < at.size(); ++j) {
    const auto groups = workload.groups_of(workload.job(jobs[j].job));
    for (const auto& task : entries_[at[j]].placement.tasks) {
      pieces[next[room_.slot(task.machine)]++] = {task, groups[task.group].shape, j};
    }
  }
  for (std::size_t slot = 0; slot < machines_.size(); ++slot) {  // memory is one thread's work
    occupants_[slot].reserve(occupants_[slot].size() + first[slot + 1] - first[slot]);
  }
  parallel::sweep(machines_.size(), [&](std::size_t slot) {
    for (std::size_t i = first[slot]; i < first[slot + 1]; ++i) {
      room_.take(pieces[i].task, workload.shape(pieces[i].shape));
      add_occupant(jobs[pieces[i].job], pieces[i].task);
    }
  });
}

void Occupancy::record(JobPlacement placement) {
  admit(placement.job);
  JobEntry& entry = entries_[position(placement.job)];
  BERTH_EXPECT(!entry.is_placed());
  entry.placement = std::move(placement);
  planner_model::enter(room_, valuation_->instance().workload, entry.placement);
  value_entry(entry);
  limit_usage_.add(entry.placement);
  add_occupants(entry);
  if (marks_ > 0) journal_.push_back({entry.job(), {}});
}

void Occupancy::give_back(JobId job) {
  BERTH_EXPECT(is_placed(job));
  JobEntry& entry = entries_[position(job)];
  remove_occupants(entry);
  limit_usage_.remove(entry.placement);
  planner_model::release(room_, valuation_->instance().workload, entry.placement);
  std::vector<model::TaskPlacement> left = std::exchange(entry.placement.tasks, {});
  entry.value = entry.unpriced_value = 0.0;
  if (marks_ > 0) journal_.push_back({job, std::move(left)});
}

Occupancy::Mark Occupancy::mark() {
  ++marks_;
  return journal_.size();
}

void Occupancy::roll_back(Mark mark) {
  const int marks = std::exchange(marks_, 0);  // undoing adds no entries to the journal
  BERTH_EXPECT(marks > 0 && mark <= journal_.size());
  while (journal_.size() > mark) {
    Change change = std::move(journal_.back());
    journal_.pop_back();
    if (change.left.empty()) {
      give_back(change.job);
    } else {
      take({.job = change.job, .tasks = std::move(change.left)});
    }
  }
  marks_ = marks - 1;
}

void Occupancy::keep(Mark mark) {
  BERTH_EXPECT(marks_ > 0 && mark <= journal_.size());
  if (--marks_ == 0) journal_.clear();
}

void Occupancy::revalue(const planner_model::Valuation& valuation,
                        const planner_model::CouplingLimits* limits) {
  valuation_ = &valuation;
  const planner_model::LimitUsage before =
      std::exchange(limit_usage_, planner_model::LimitUsage(valuation.instance(), limits));
  for (std::size_t l = 0; l < limit_usage_.size(); ++l) limit_usage_.allow(l, before.allowance(l));
  for (auto& occupants : occupants_) occupants.clear();
  by_quota_ = empty_lists(limit_usage_);
  for (JobEntry& entry : entries_) {
    if (!entry.is_placed()) continue;
    value_entry(entry);
    limit_usage_.add(entry.placement);
    add_occupants(entry);
  }
}

void Occupancy::value_entry(JobEntry& entry) {
  entry.value = valuation_->placed(entry.placement);
  entry.unpriced_value = valuation_->unpriced_value(entry.placement);
}

planner_model::Precedence Occupancy::precedence_of(const JobEntry& entry) const {
  const model::WorkloadView& workload = valuation_->instance().workload;
  const model::Job& job = workload.job(entry.job());
  return planner_model::precedence(workload, entry.job(),
                                   planner_model::value_density(workload, job, entry.value));
}

void Occupancy::add_occupants(const JobEntry& entry) {
  const Occupant occupant = occupant_of(entry);
  for (const auto& task : entry.placement.tasks) add_occupant(occupant, task);
  add_to_quotas(occupant.precedence);
}

/// The job on no machine yet.
Occupant Occupancy::occupant_of(const JobEntry& entry) const {
  const planner_model::Precedence precedence = precedence_of(entry);
  return {.density = precedence.density,
          .job = entry.job(),
          .value = entry.value,
          .evictable = !precedence.required,
          .precedence = precedence};
}

void Occupancy::add_occupant(const Occupant& job, const model::TaskPlacement& task) {
  auto& occupants = occupants_[room_.slot(task.machine)];
  auto at = std::ranges::find(occupants, job.job, &Occupant::job);
  if (at == occupants.end()) {
    at = occupants.insert(std::ranges::lower_bound(occupants, job, std::less<>{}), job);
  }
  const int devices = std::popcount(task.devices);
  at->milli += std::int64_t{task.milli} * devices;
  if (task.milli == model::kGpuMilli) at->whole_gpus += devices;
}

void Occupancy::add_to_quotas(const planner_model::Precedence& precedence) {
  if (precedence.required) return;
  for (const std::uint32_t q : limit_usage_.quotas_of(precedence.job)) {
    by_quota_[q].insert(precedence);
  }
}

void Occupancy::remove_occupants(const JobEntry& entry) {
  const JobId job = entry.job();
  for (const auto& task : entry.placement.tasks) {
    std::erase_if(occupants_[room_.slot(task.machine)],
                  [job](const Occupant& r) { return r.job == job; });
  }
  for (const std::uint32_t q : limit_usage_.quotas_of(job)) {
    by_quota_[q].erase(precedence_of(entry));
  }
}

double Occupancy::value() const {
  double total = 0.0;
  for (const JobEntry& entry : entries_) total += entry.unpriced_value;
  return total;
}

model::Placement Occupancy::placement() const {
  model::Placement all;
  for (const JobEntry& entry : entries_) {
    if (entry.is_placed()) all.push_back(entry.placement);
  }
  return all;
}

std::vector<JobId> Occupancy::placed_jobs() const {
  std::vector<JobId> jobs;
  for (const JobEntry& entry : entries_) {
    if (entry.is_placed()) jobs.push_back(entry.job());
  }
  return jobs;
}

std::vector<JobId> Occupancy::unplaced_jobs() const {
  std::vector<JobId> jobs;
  for (const JobEntry& entry : entries_) {
    if (!entry.is_placed()) jobs.push_back(entry.job());
  }
  return jobs;
}

}  // namespace berth::solver
