// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/limits.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "berth/base/int128.hpp"

namespace berth::coordinator {
namespace {

using model::JobPlacement;
using model::Ledger;
using model::Placement;
using solver::EvictionCandidate;
using solver::LimitUse;
using solver::Shard;

constexpr std::size_t kTurns = 16;  ///< shards that may use all that is left, each time it is dealt

/// Whom dropping the list's head would drop: in order, until `over` is gone.
std::set<JobId> chosen(std::vector<EvictionCandidate> candidates, std::int64_t over,
                       double penalty) {
  std::ranges::sort(candidates, {}, [](const EvictionCandidate& s) {
    return std::tuple(s.required, s.worth, s.job);
  });
  std::set<JobId> jobs;
  for (const EvictionCandidate& s : candidates) {
    if (over <= 0) break;
    const bool soft = std::isfinite(penalty);
    if (soft && (s.required != 0 || 1000.0 * s.worth >= penalty)) break;
    jobs.insert(s.job);
    over -= s.amount;
  }
  return jobs;
}

}  // namespace

std::vector<std::int64_t> share(std::int64_t amount, std::span<const std::int64_t> demands) {
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

Sharing::Sharing(const comm::Communicator& comm, const model::Valuation& valuation,
                 const model::Limits& limits, const Placement& spanning)
    : comm_(comm), valuation_(valuation), limits_(limits), gauge_(valuation.instance(), &limits) {
  span(spanning);
}

void Sharing::span(const Placement& spanning) {
  elsewhere_.assign(limits_.size(), 0);
  for (const JobPlacement& p : spanning) {
    for (const auto& [limit, amount] : gauge_.amounts(p)) elsewhere_[limit] += amount;
  }
}

void Sharing::span_in_parts(const Placement& part) {
  span(part);
  comm_.sum(elsewhere_);
}

std::int64_t Sharing::over(std::size_t limit) const {
  const std::int64_t capacity = limits_.capacity(limit);
  return capacity == Ledger::kNoLimit ? 0 : use_[limit] - capacity;
}

void Sharing::count(std::span<const Shard> mine) {
  std::vector<LimitUse> limit_uses;
  for (const Shard& shard : mine) {
    for (const LimitUse& s : shard.limit_uses()) {
      if (s.use != 0 || s.demand != 0) limit_uses.push_back(s);
    }
  }
  limit_uses_ = comm_.all_gather_varying<LimitUse>(limit_uses);
  std::ranges::sort(limit_uses_, {}, [](const LimitUse& s) { return std::pair(s.limit, s.shard); });
  use_ = elsewhere_;
  for (const LimitUse& s : limit_uses_) use_[s.limit] += s.use;
}

void Sharing::allow(std::span<Shard> mine, bool shares) {
  for (Shard& shard : mine) {
    for (const std::size_t l : shard.own_links()) {
      shard.allow(l, std::max<std::int64_t>(0, limits_.capacity(l) - elsewhere_[l]));
    }
    shard.freeze_limits();
  }
  if (!shares) return;
  for (auto first = limit_uses_.begin(); first != limit_uses_.end();) {
    const std::uint32_t limit = first->limit;
    const auto last =
        std::find_if(first, limit_uses_.end(), [&](const LimitUse& s) { return s.limit != limit; });
    std::vector<std::int64_t> demands;
    for (auto s = first; s != last; ++s) demands.push_back(s->demand);
    const auto parts = share(std::max<std::int64_t>(0, -over(limit)), demands);
    for (Shard& shard : mine) {
      for (auto s = first; s != last; ++s) {
        if (s->shard != shard.id()) continue;
        shard.allow(limit, s->use + parts[static_cast<std::size_t>(s - first)]);
      }
    }
    first = last;
  }
}

void Sharing::hold(std::span<Shard> mine) {
  count(mine);
  allow(mine, false);
}

/// A share of a few GPUs is of no use to a gang: so first those shards that want most, one after
/// the other, fill their idle room from all that is left.
void Sharing::deal(std::span<Shard> mine) {
  count(mine);
  std::map<ShardId, std::int64_t> wanted;
  for (const LimitUse& s : limit_uses_) {
    if (over(s.limit) < 0 && s.demand > 0) wanted[s.shard] += s.demand;
  }
  std::vector<std::pair<std::int64_t, ShardId>> turns;
  for (const auto& [shard, demand] : wanted) turns.emplace_back(-demand, shard);
  std::ranges::sort(turns);
  if (turns.size() > kTurns) turns.resize(kTurns);
  for (const auto& [demand, turn] : turns) {
    allow(mine, false);
    comm_.agreed([&, turn = turn] {
      for (Shard& shard : mine) {
        if (shard.id() != turn) continue;
        for (const LimitUse& s : limit_uses_) {
          if (s.shard != turn) continue;
          shard.allow(s.limit, s.use + std::max<std::int64_t>(0, -over(s.limit)));
        }
        shard.fill_idle_capacity();
      }
    });
    count(mine);
  }
  allow(mine, true);
}

/// Everyone learns enough candidates of every shard to choose the same jobs.
void Sharing::cut(std::span<Shard> mine, Placement& spanning, std::size_t limit) {
  if (over(limit) <= 0) return;
  std::vector<EvictionCandidate> candidates;
  for (const Shard& shard : mine) {
    // An uplink of its own is counted here for the spanning gangs alone.
    if (std::ranges::binary_search(shard.own_links(), limit)) continue;
    const auto more = shard.eviction_candidates(limit, over(limit));
    candidates.insert(candidates.end(), more.begin(), more.end());
  }
  candidates = comm_.all_gather_varying<EvictionCandidate>(candidates);
  for (const JobPlacement& p : spanning) {
    const std::int64_t taken = gauge_.amount(limit, p);
    if (taken <= 0) continue;
    const bool required = valuation_.instance().workload.job(p.job).required;
    const double worth = valuation_.face(p) / static_cast<double>(taken);
    candidates.push_back({p.job, required ? 1 : 0, worth, taken});
  }
  const std::set<JobId> going = chosen(std::move(candidates), over(limit), limits_.penalty(limit));
  for (const JobPlacement& p : spanning) {
    if (!going.contains(p.job)) continue;
    for (const auto& [l, amount] : gauge_.amounts(p)) elsewhere_[l] -= amount;
    for (Shard& shard : mine) shard.unreserve(p);
  }
  std::erase_if(spanning, [&](const JobPlacement& p) { return going.contains(p.job); });
  for (Shard& shard : mine) {
    for (const JobId job : going) shard.unplace(job);
  }
  count(mine);
}

/// Uplinks that one shard has to itself.
void Sharing::cut_own(std::span<Shard> mine) const {
  for (Shard& shard : mine) {
    for (const std::size_t l : shard.own_links()) {
      const std::int64_t excess = shard.excess(l);
      for (const EvictionCandidate& s : shard.eviction_candidates(l, excess)) shard.unplace(s.job);
    }
  }
}

void Sharing::settle(std::span<Shard> mine, Placement& spanning) {
  count(mine);
  // Children come after their parents in the file: they are cut first.
  for (std::size_t q = limits_.quota_count(); q-- > 0;) cut(mine, spanning, q);
  // Uplinks of one shard are in `use_` with the traffic of spanning gangs alone.
  for (std::size_t l = limits_.quota_count(); l < limits_.size(); ++l) cut(mine, spanning, l);
  allow(mine, false);
  cut_own(mine);
  deal(mine);
  comm_.agreed([&] {
    for (Shard& shard : mine) {
      shard.fill_idle_capacity();
      shard.improve();
    }
  });
}

std::vector<std::int64_t> Sharing::left() const {
  std::vector<std::int64_t> left;
  for (std::size_t q = 0; q < limits_.quota_count(); ++q) {
    left.push_back(std::max<std::int64_t>(0, -over(q)));
  }
  return left;
}

double Sharing::lost() const {
  double sum = 0.0;
  for (std::size_t q = 0; q < limits_.quota_count(); ++q) {
    if (over(q) > 0) sum += limits_.penalty(q) * static_cast<double>(over(q)) / 1000.0;
  }
  return sum;
}

std::vector<std::int64_t> uses(const comm::Communicator& comm, const model::Instance& instance,
                               const model::Limits& limits, const Placement& part) {
  Ledger ledger(instance, &limits);
  for (const JobPlacement& p : part) ledger.add(p);
  std::vector<std::int64_t> use;
  for (std::size_t l = 0; l < ledger.size(); ++l) use.push_back(ledger.use(l));
  comm.sum(use);
  return use;
}

bool keeps(const model::Limits& limits, std::span<const std::int64_t> use) {
  for (std::size_t l = 0; l < use.size(); ++l) {
    const std::int64_t capacity = limits.capacity(l);
    if (std::isinf(limits.penalty(l)) && capacity != Ledger::kNoLimit && use[l] > capacity) {
      return false;
    }
  }
  return true;
}

}  // namespace berth::coordinator
