// SPDX-License-Identifier: Apache-2.0
#include "local_search/quota_eviction.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "berth/solver/occupancy.hpp"

namespace berth::solver::local_search {
namespace {

/// Frees `over` thousandths of one quota: evicts jobs by ascending value, except jobs worth more
/// than a penalty of `rate` per thousandth; then keeps those whose eviction is not needed.
template <SearchState State>
void free_quota(const State& state, std::size_t quota, std::int64_t over, double rate,
                QuotaEviction& eviction) {
  const model::WorkloadView& workload = state.valuation().instance().workload;
  const auto milli = [&](JobId job) { return workload.gpu_milli(workload.job(job)); };
  std::vector<std::pair<double, planner_model::Precedence>> fresh;  // (-value, job)
  for (const JobId v : eviction.victims) {
    if (std::ranges::find(state.limit_usage().quotas_of(v), quota) !=
        state.limit_usage().quotas_of(v).end()) {
      over -= milli(v);
    }
  }
  for (const planner_model::Precedence& p : state.evictable_jobs(quota)) {
    if (over <= 0 || p.density >= rate) break;
    if (std::ranges::find(eviction.victims, p.job) != eviction.victims.end()) continue;
    fresh.emplace_back(-state.value_of(p.job), p);
    over -= milli(p.job);
  }
  std::ranges::sort(fresh, std::less<>{});
  for (const auto& [negated_value, p] : fresh) {
    if (over + milli(p.job) <= 0) {
      over += milli(p.job);
      continue;
    }
    eviction.victims.push_back(p.job);
    eviction.cost -= negated_value;
  }
  if (over <= 0) return;
  if (std::isinf(rate))
    eviction.possible = false;
  else
    eviction.cost += rate * static_cast<double>(over);
}

}  // namespace

template <SearchState State>
QuotaEviction find_quota_eviction(const State& state, JobId id, std::int64_t drawn) {
  QuotaEviction eviction;
  const planner_model::LimitUsage& limit_usage = state.limit_usage();
  const model::WorkloadView& workload = state.valuation().instance().workload;
  const std::int64_t milli = workload.gpu_milli(workload.job(id));
  for (const std::uint32_t l : limit_usage.quotas_of(id)) {
    if (milli <= drawn || limit_usage.left(l) >= milli - drawn) continue;
    const std::int64_t over = milli - drawn - limit_usage.left(l);
    if (std::isinf(limit_usage.limits()->penalty(l))) {
      free_quota(state, l, over, limit_usage.rate(l), eviction);
    } else {
      free_quota(state, l, std::min(over, milli), limit_usage.rate(l) / 1000.0, eviction);
    }
  }
  std::ranges::sort(eviction.victims);
  return eviction;
}

template QuotaEviction find_quota_eviction(const Occupancy&, JobId, std::int64_t);

}  // namespace berth::solver::local_search
