// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/limit_allocation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "berth/base/int128.hpp"
#include "berth/solver/shard_planning.hpp"

namespace berth::coordinator {
namespace {

using model::JobPlacement;
using model::Placement;
using planner_model::LimitUsage;
using solver::EvictionCandidate;
using solver::LimitUse;
using solver::Shard;

/// Most shards that fill idle capacity from the whole slack in one distribution. Decision 4 has the
/// effect of such turns; their number is chosen, not tuned.
constexpr std::size_t kTurns = 16;

/// The jobs of least precedence whose removal frees at least `over`; under a soft limit only jobs
/// whose value is below `penalty`.
std::set<JobId> jobs_to_drop(std::vector<EvictionCandidate> candidates, std::int64_t over,
                             double penalty) {
  std::ranges::sort(candidates, std::greater<>{}, &EvictionCandidate::precedence);
  std::set<JobId> jobs;
  for (const EvictionCandidate& s : candidates) {
    if (over <= 0) break;
    const bool soft = std::isfinite(penalty);
    if (soft && (s.precedence.required || 1000.0 * s.precedence.density >= penalty)) break;
    jobs.insert(s.precedence.job);
    over -= s.amount;
  }
  return jobs;
}

}  // namespace

std::vector<std::int64_t> proportional_shares(std::int64_t amount,
                                              std::span<const std::int64_t> demands) {
  Int128 total = 0, seen = 0;
  for (const std::int64_t d : demands) total += d;
  std::vector<std::int64_t> shares;
  std::int64_t given = 0;
  for (const std::int64_t d : demands) {
    seen += d;
    const auto until = total == 0 ? 0 : static_cast<std::int64_t>(Int128{amount} * seen / total);
    shares.push_back(until - given);
    given = until;
  }
  return shares;
}

LimitAllocation::LimitAllocation(const comm::Communicator& comm,
                                 const planner_model::Valuation& valuation,
                                 const planner_model::CouplingLimits& limits,
                                 const Placement& spanning)
    : comm_(comm), valuation_(valuation), limits_(limits), measure_(valuation.instance(), &limits) {
  set_spanning(spanning);
}

void LimitAllocation::set_spanning(const Placement& spanning) {
  spanning_use_.assign(limits_.size(), 0);
  for (const JobPlacement& p : spanning) {
    for (const auto& [limit, amount] : measure_.amounts(p)) spanning_use_[limit] += amount;
  }
}

void LimitAllocation::set_spanning_parts(const Placement& part) {
  set_spanning(part);
  comm_.sum(spanning_use_);
}

std::int64_t LimitAllocation::excess(std::size_t limit) const {
  const std::int64_t capacity = limits_.capacity(limit);
  return capacity == model::kNoLimit ? 0 : use_[limit] - capacity;
}

void LimitAllocation::count_use(std::span<const Shard> mine) {
  std::vector<LimitUse> limit_uses;
  for (const Shard& shard : mine) {
    for (const LimitUse& s : solver::limit_uses(shard)) {
      if (s.use != 0 || s.demand != 0) limit_uses.push_back(s);
    }
  }
  limit_uses_ = comm_.all_gather_varying<LimitUse>(limit_uses);
  std::ranges::sort(limit_uses_, {}, [](const LimitUse& s) { return std::pair(s.limit, s.shard); });
  use_ = spanning_use_;
  for (const LimitUse& s : limit_uses_) use_[s.limit] += s.use;
}

void LimitAllocation::set_allowances(std::span<Shard> mine, bool shares) {
  for (Shard& shard : mine) {
    for (const std::size_t l : solver::own_limits(shard)) {
      solver::allow(shard, l, std::max<std::int64_t>(0, limits_.capacity(l) - spanning_use_[l]));
    }
    solver::freeze_limits(shard);
  }
  if (!shares) return;
  for (auto first = limit_uses_.begin(); first != limit_uses_.end();) {
    const std::uint32_t limit = first->limit;
    const auto last =
        std::find_if(first, limit_uses_.end(), [&](const LimitUse& s) { return s.limit != limit; });
    std::vector<std::int64_t> demands;
    for (auto s = first; s != last; ++s) demands.push_back(s->demand);
    const auto parts = proportional_shares(std::max<std::int64_t>(0, -excess(limit)), demands);
    for (Shard& shard : mine) {
      for (auto s = first; s != last; ++s) {
        if (s->shard != shard.id()) continue;
        solver::allow(shard, limit, s->use + parts[static_cast<std::size_t>(s - first)]);
      }
    }
    first = last;
  }
}

void LimitAllocation::freeze(std::span<Shard> mine) {
  count_use(mine);
  set_allowances(mine, false);
}

/// A gang cannot use a share of a few GPUs. Therefore the shards of largest demand first fill their
/// idle room from the whole slack, one after the other.
void LimitAllocation::distribute_slack(std::span<Shard> mine) {
  count_use(mine);
  std::map<ShardId, std::int64_t> wanted;
  for (const LimitUse& s : limit_uses_) {
    if (excess(s.limit) < 0 && s.demand > 0) wanted[s.shard] += s.demand;
  }
  std::vector<std::pair<std::int64_t, ShardId>> turns;
  for (const auto& [shard, demand] : wanted) turns.emplace_back(-demand, shard);
  std::ranges::sort(turns);
  if (turns.size() > kTurns) turns.resize(kTurns);
  for (const auto& [demand, turn] : turns) {
    set_allowances(mine, false);
    comm_.agreed([&, turn = turn] {
      for (Shard& shard : mine) {
        if (shard.id() != turn) continue;
        for (const LimitUse& s : limit_uses_) {
          if (s.shard != turn) continue;
          solver::allow(shard, s.limit, s.use + std::max<std::int64_t>(0, -excess(s.limit)));
        }
        solver::fill_idle_capacity(shard);
      }
    });
    count_use(mine);
  }
  set_allowances(mine, true);
}

/// Drops jobs until the limit is kept. All ranks gather enough candidates of every shard to make
/// one choice.
void LimitAllocation::drop_excess(std::span<Shard> mine, Placement& spanning, std::size_t limit) {
  if (excess(limit) <= 0) return;
  std::vector<EvictionCandidate> candidates;
  for (const Shard& shard : mine) {
    // For a limit of one shard only the use by spanning gangs is counted here.
    if (std::ranges::binary_search(solver::own_limits(shard), limit)) continue;
    const auto more = solver::eviction_candidates(shard, limit, excess(limit));
    candidates.insert(candidates.end(), more.begin(), more.end());
  }
  candidates = comm_.all_gather_varying<EvictionCandidate>(candidates);
  for (const JobPlacement& p : spanning) {
    const std::int64_t taken = measure_.amount(limit, p);
    if (taken <= 0) continue;
    const double worth = valuation_.unpriced_value(p) / static_cast<double>(taken);
    candidates.push_back(
        {taken, planner_model::precedence(valuation_.instance().workload, p.job, worth)});
  }
  const std::set<JobId> going =
      jobs_to_drop(std::move(candidates), excess(limit), limits_.penalty(limit));
  for (const JobPlacement& p : spanning) {
    if (!going.contains(p.job)) continue;
    for (const auto& [l, amount] : measure_.amounts(p)) spanning_use_[l] -= amount;
    for (Shard& shard : mine) shard.unreserve(p);
  }
  std::erase_if(spanning, [&](const JobPlacement& p) { return going.contains(p.job); });
  for (Shard& shard : mine) {
    for (const JobId job : going) shard.unplace(job);
  }
  count_use(mine);
}

/// Drops jobs where a shard exceeds a limit of its own.
void LimitAllocation::drop_excess_of_own_limits(std::span<Shard> mine) const {
  for (Shard& shard : mine) {
    for (const std::size_t l : solver::own_limits(shard)) {
      const std::int64_t own_excess = solver::excess(shard, l);
      auto candidates = solver::eviction_candidates(shard, l, own_excess);
      if (limits_.soft(l)) {
        const double penalty = limits_.penalty(l);
        for (const JobId job : jobs_to_drop(std::move(candidates), own_excess, penalty))
          shard.unplace(job);
        continue;
      }
      for (const EvictionCandidate& s : candidates) shard.unplace(s.precedence.job);
    }
  }
}

void LimitAllocation::enforce(std::span<Shard> mine, Placement& spanning) {
  count_use(mine);
  // Children come after their parents: descending order treats them first.
  for (std::size_t q = limits_.of_queues(); q-- > 0;) drop_excess(mine, spanning, q);
  // For limits of one shard `use_` has only the use by spanning gangs.
  for (std::size_t l = limits_.of_queues(); l < limits_.size(); ++l) drop_excess(mine, spanning, l);
  set_allowances(mine, false);
  drop_excess_of_own_limits(mine);
  distribute_slack(mine);
  comm_.agreed([&] {
    for (Shard& shard : mine) {
      solver::fill_idle_capacity(shard);
      solver::improve(shard);
    }
  });
}

std::vector<std::int64_t> LimitAllocation::slack() const {
  std::vector<std::int64_t> slack;
  for (std::size_t q = 0; q < limits_.of_queues(); ++q) {
    slack.push_back(std::max<std::int64_t>(0, -excess(q)));
  }
  return slack;
}

double LimitAllocation::penalties() const {
  double sum = 0.0;
  const auto add = [&](std::size_t l) {
    if (excess(l) > 0) sum += limits_.penalty(l) * static_cast<double>(excess(l)) / 1000.0;
  };
  for (std::size_t q = 0; q < limits_.of_queues(); ++q) add(q);
  for (std::size_t l = limits_.first_spare(); l < limits_.size(); ++l) add(l);
  return sum;
}

std::vector<std::int64_t> limit_use(const comm::Communicator& comm,
                                    const model::InstanceView& instance,
                                    const planner_model::CouplingLimits& limits,
                                    const Placement& part) {
  LimitUsage limit_usage(instance, &limits);
  for (const JobPlacement& p : part) limit_usage.add(p);
  std::vector<std::int64_t> use;
  for (std::size_t l = 0; l < limit_usage.size(); ++l) use.push_back(limit_usage.use(l));
  comm.sum(use);
  return use;
}

bool within_limits(const planner_model::CouplingLimits& limits, std::span<const std::int64_t> use) {
  for (std::size_t l = 0; l < use.size(); ++l) {
    const std::int64_t capacity = limits.capacity(l);
    if (std::isinf(limits.penalty(l)) && capacity != model::kNoLimit && use[l] > capacity) {
      return false;
    }
  }
  return true;
}

}  // namespace berth::coordinator
