// SPDX-License-Identifier: Apache-2.0
#include "local_search/group_insertion.hpp"

#include "local_search/candidate_domains.hpp"
#include "local_search/quota_eviction.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

namespace berth::solver::local_search {

using model::Level;

namespace {

constexpr std::size_t kVictims = 4096;  ///< of a domain; chosen, not tuned
constexpr std::size_t kSmall = 256;     ///< machines of a domain that are all looked at
constexpr std::size_t kReturns = 64;    ///< victims of a domain that may come back, tried by value

struct Candidate {
  double least = 0.0;  ///< lower bound on the loss
  std::span<const MachineId> machines;
};

/// Domains with bounds on the loss there; by bound, narrow ones first.
std::vector<Candidate> candidates(const Occupancy& state, JobId id, KeptCostBounds& costs) {
  const model::WorkloadView& workload = state.valuation().instance().workload;
  const std::int64_t milli = workload.gpu_milli(workload.job(id));
  std::vector<Candidate> result;
  for_each_candidate_list(state, id, Level::cluster, [&](GpuTypeId type, Level level) {
    for (const Domain& domain : state.index().domains(type, level)) {
      const double least = costs.least(type, domain, milli);
      if (least == std::numeric_limits<double>::infinity()) continue;
      result.push_back({least, domain.machines});
    }
  });
  std::ranges::stable_sort(result, {}, &Candidate::least);
  return result;
}

}  // namespace

/// Of one job in one domain after the other.
class GroupInsertionSearch {
 public:
  GroupInsertionSearch(Occupancy& state, JobId job, const QuotaEviction& quotas)
      : state_(state),
        job_(job),
        quotas_(quotas),
        milli_(state.valuation().instance().workload.gpu_milli(
            state.valuation().instance().workload.job(job))) {}

  [[nodiscard]] double loss() const { return loss_; }
  [[nodiscard]] Insertion& best() { return best_; }

  /// Keeps the insertion into these machines when its loss is less. Where few jobs are, each of
  /// them is tried alone too: tasks that are placed in an order may fit beside more jobs and not
  /// beside fewer.
  void consider(std::span<const MachineId> domain, const GroupInsertions::Place& place) {
    if (may_pay(place)) {
      begin(domain, place);
      if (make_fit(place.victims)) {
        bring_back();
        keep_if_better();
      }
      state_.roll_back(mark_);
    }
    if (place.victims.size() > kReturns) return;
    for (const auto& [victim, value, milli] : place.victims) {
      if (value >= loss_ || lacks_gpus(place.free_milli + milli)) continue;
      begin(domain, place);
      if (state_.is_placed(victim)) leave(victim);
      if (fits()) keep_if_better();
      state_.roll_back(mark_);
    }
  }

 private:
  /// True when so many free GPU thousandths are too few for the job; never known where victims of
  /// quotas free more.
  [[nodiscard]] bool lacks_gpus(std::int64_t free) const {
    return quotas_.victims.empty() && free < milli_;
  }

  /// False when the victims that leave first are worth too much before they free enough GPUs.
  [[nodiscard]] bool may_pay(const GroupInsertions::Place& place) const {
    std::int64_t free = place.free_milli;
    double lost = 0.0;
    for (const auto& [victim, value, milli] : place.victims) {
      if (!lacks_gpus(free)) break;
      free += milli;
      lost += value;
    }
    return !lacks_gpus(free) && lost < loss_;
  }

  void begin(std::span<const MachineId> domain, const GroupInsertions::Place& place) {
    mark_ = state_.mark();
    domain_ = domain, machines_ = place.roomy, left_.clear(), lost_ = 0.0, free_ = place.free_milli;
    for (const JobId victim : quotas_.victims) leave(victim);
    needed_ = left_.size();
  }

  void keep_if_better() {
    if (lost_ >= loss_) return;
    loss_ = lost_;
    best_.machines = machines_;
    best_.victims.clear();
    for (const model::JobPlacement& victim : left_) best_.victims.push_back(victim.job);
  }

  [[nodiscard]] bool fits() { return free_ >= milli_ && state_.fit(job_, machines_).has_value(); }

  /// GPU thousandths in the domain.
  [[nodiscard]] std::int64_t milli_of(const model::JobPlacement& placed) const {
    std::int64_t milli = 0;
    for (const model::TaskPlacement& task : placed.tasks) {
      if (!std::ranges::binary_search(domain_, task.machine)) continue;
      milli += std::int64_t{std::popcount(task.devices)} * task.milli;
    }
    return milli;
  }

  void leave(JobId victim) {
    left_.push_back(state_.placed(victim));
    lost_ += state_.value_of(victim);
    free_ += milli_of(left_.back());
    for (const model::TaskPlacement& task : left_.back().tasks) {
      const auto at = std::ranges::lower_bound(machines_, task.machine);
      if (at != machines_.end() && *at == task.machine) continue;
      if (std::ranges::binary_search(domain_, task.machine)) machines_.insert(at, task.machine);
    }
    state_.give_back(victim);
  }

  void come_back() {
    state_.take(left_.back());
    lost_ -= state_.value_of(left_.back().job);
    free_ -= milli_of(left_.back());
    left_.pop_back();
  }

  /// Number of the first victims that free enough GPUs, at least 1, at most `most`.
  [[nodiscard]] std::size_t least_victims(const std::vector<GroupInsertions::Victim>& victims,
                                          std::size_t most) const {
    std::int64_t free = free_;
    std::size_t gone = 0;
    for (; gone < most && (gone == 0 || free < milli_); ++gone) {
      if (state_.is_placed(victims[gone].job)) free += victims[gone].milli;
    }
    return gone;
  }

  /// As many jobs leave as free enough GPUs, then ever more, then as few of them as suffice in
  /// their order. False when the loss would not be less, or no number suffices.
  bool make_fit(const std::vector<GroupInsertions::Victim>& victims) {
    const std::size_t most = std::min(victims.size(), kVictims);
    std::size_t gone = 0, short_of = 0;
    const auto leave_until = [&](std::size_t to) {
      for (; gone < to; ++gone) {
        if (state_.is_placed(victims[gone].job)) leave(victims[gone].job);
      }
    };
    std::size_t next = least_victims(victims, most);
    for (std::size_t more = 1; !fits(); more *= 2) {
      if (gone == most || lost_ >= loss_) return false;
      short_of = gone == 0 ? next - 1 : gone;
      leave_until(next);
      next = std::min(next + more, most);
    }
    while (gone - short_of > 1) {  // `short_of` of them do not suffice, `gone` do
      const std::size_t middle = short_of + (gone - short_of) / 2, all = gone;
      while (gone > middle) {
        if (!left_.empty() && left_.back().job == victims[gone - 1].job) come_back();
        --gone;
      }
      if (fits()) continue;
      short_of = middle;
      leave_until(all);
    }
    return lost_ < loss_ || loss_ == std::numeric_limits<double>::infinity();
  }

  /// Victims that left for room come back where all tasks fit beside them.
  void bring_back() {
    std::vector<std::size_t> order;
    for (std::size_t i = needed_; i < left_.size(); ++i) order.push_back(i);
    const auto value = [&](std::size_t i) { return state_.valuation().placed(left_[i]); };
    std::ranges::stable_sort(order, [&](auto a, auto b) { return value(a) > value(b); });
    if (order.size() > kReturns) order.resize(kReturns);
    std::vector<bool> back(left_.size(), false);
    for (const std::size_t i : order) {
      const std::int64_t milli = milli_of(left_[i]);
      if (free_ - milli < milli_) continue;
      state_.take(left_[i]);
      free_ -= milli;
      back[i] = fits();
      if (back[i]) lost_ -= state_.value_of(left_[i].job);
      if (back[i]) continue;
      state_.give_back(left_[i].job);
      free_ += milli;
    }
    std::size_t at = 0;
    std::erase_if(left_, [&](const model::JobPlacement&) { return back[at++]; });
  }

  Occupancy& state_;
  JobId job_;
  const QuotaEviction& quotas_;
  std::int64_t milli_;  ///< GPU thousandths of the job
  double loss_ = std::numeric_limits<double>::infinity();
  Insertion best_ = {};

  // of the domain that is considered
  Occupancy::Mark mark_ = 0;
  std::span<const MachineId> domain_ = {};
  std::vector<MachineId> machines_ = {};        ///< with room, ascending
  std::vector<model::JobPlacement> left_ = {};  ///< victims, those of quotas first
  std::size_t needed_ = 0;                      ///< victims of quotas
  double lost_ = 0.0;                           ///< value of the victims
  std::int64_t free_ = 0;                       ///< GPU thousandths, usable or not
};

const GroupInsertions::Place& GroupInsertions::place(std::span<const MachineId> machines) {
  const auto [entry, fresh] = places_[machines.data()].try_emplace(machines.size());
  Place& place = entry->second;
  if (!fresh) return place;
  std::vector<Occupant> order;
  for (const MachineId m : machines) {
    place.free_milli += state_.room().shared(m).milli();
    const bool has_gpus = state_.valuation().instance().cluster.class_of(m).gpus > 0;
    const bool roomy = !has_gpus || state_.room().free_milli(m) > 0;
    if (roomy || machines.size() <= kSmall) place.roomy.push_back(m);
    std::ranges::copy_if(state_.occupants(m), std::back_inserter(order), &Occupant::evictable);
  }
  std::ranges::sort(order, {}, [](const Occupant& o) { return std::pair(o.density, o.job); });
  for (const Occupant& occupant : order) {
    if (place.victims.empty() || place.victims.back().job != occupant.job) {
      place.victims.push_back({occupant.job, occupant.value, 0});
    }
    place.victims.back().milli += occupant.milli;
  }
  return place;
}

Insertion GroupInsertions::find(JobId job) {
  const QuotaEviction quotas = find_quota_eviction(std::as_const(state_), job, 0);
  if (!quotas.possible) return {};
  GroupInsertionSearch search(state_, job, quotas);
  const model::WorkloadView& workload = state_.valuation().instance().workload;
  const bool single = is_single(workload, workload.job(job));
  for (const auto& [least, machines] : candidates(state_, job, costs_)) {
    if (quotas.victims.empty() && least >= search.loss()) break;
    if (!single) search.consider(machines, place(machines));
    for (std::size_t m = 0; single && m < machines.size(); ++m) {
      search.consider(machines.subspan(m, 1), place(machines.subspan(m, 1)));
    }
  }
  Insertion best = std::move(search.best());
  if (!best.machines.empty()) best.gain = state_.valuation().best(job) - search.loss();
  return best;
}

}  // namespace berth::solver::local_search
