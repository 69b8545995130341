// SPDX-License-Identifier: Apache-2.0
#include "shard/duty.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace berth::solver {
namespace {

/// Makes room of `over` thousandths in one quota: the least valuable first, but nobody that is
/// worth more than paying `rate` per thousandth. Those that turn out not to be needed stay.
void free_quota(const Tenancy& tenancy, std::size_t quota, std::int64_t over, double rate,
                Duty& duty) {
  const model::Workload& workload = tenancy.valuation().instance().workload;
  const auto milli = [&](JobId job) { return workload.gpu_milli(workload.job(job)); };
  std::vector<std::pair<double, JobId>> fresh;  // (value, job)
  for (const JobId v : duty.victims) {
    if (std::ranges::find(tenancy.ledger().quotas_of(v), quota) !=
        tenancy.ledger().quotas_of(v).end()) {
      over -= milli(v);
    }
  }
  for (const auto& [density, job] : tenancy.counting_for(quota)) {
    if (over <= 0 || density >= rate) break;
    if (std::ranges::find(duty.victims, job) != duty.victims.end()) continue;
    fresh.emplace_back(tenancy.value_of(job), job);
    over -= milli(job);
  }
  std::ranges::sort(fresh, std::greater{});
  for (const auto& [value, job] : fresh) {
    if (over + milli(job) <= 0) {
      over += milli(job);
      continue;
    }
    duty.victims.push_back(job);
    duty.cost += value;
  }
  if (over <= 0) return;
  if (std::isinf(rate))
    duty.possible = false;
  else
    duty.cost += rate * static_cast<double>(over);
}

}  // namespace

Duty duty_of(const Tenancy& tenancy, JobId id, std::int64_t drawn) {
  Duty duty;
  const model::Ledger& ledger = tenancy.ledger();
  const model::Workload& workload = tenancy.valuation().instance().workload;
  const std::int64_t milli = workload.gpu_milli(workload.job(id));
  for (const std::uint32_t l : ledger.quotas_of(id)) {
    if (milli <= drawn || ledger.left(l) >= milli - drawn) continue;
    const std::int64_t over = milli - drawn - ledger.left(l);
    if (std::isinf(ledger.limits()->penalty(l))) {
      free_quota(tenancy, l, over, ledger.rate(l), duty);
    } else {
      free_quota(tenancy, l, std::min(over, milli), ledger.rate(l) / 1000.0, duty);
    }
  }
  std::ranges::sort(duty.victims);
  return duty;
}

}  // namespace berth::solver
