// SPDX-License-Identifier: Apache-2.0
#include "job_gaps.hpp"

#include "exact.hpp"
#include "job_value.hpp"

#include <algorithm>
#include <optional>

#include "berth/base/assert.hpp"

namespace berth::certify {
namespace {

using model::InstanceView;
using model::JobPlacement;

/// One job of a part.
struct Visited {
  JobId id;
  const JobBest& best;
  const StayOption* stay;      ///< null: none
  const JobPlacement* placed;  ///< null: unplaced
};

/// Calls visit with each job.
template <class Visit>
void visit_each(const JobSubset& subset, const JobBests& bests, const Visit& visit) {
  BERTH_EXPECT(bests.best.size() == subset.jobs.size());
  auto next = subset.placement.begin();
  auto stay = bests.stays.begin();
  for (std::size_t i = 0; i < subset.jobs.size(); ++i) {
    const JobId id = subset.jobs[i];
    const bool placed = next != subset.placement.end() && next->job == id;
    const bool may_stay = stay != bests.stays.end() && stay->index == i;
    visit(Visited{id, bests.best[i], may_stay ? &*stay : nullptr, placed ? &*next : nullptr});
    if (may_stay) ++stay;
    if (placed) ++next;
  }
  BERTH_EXPECT(next == subset.placement.end());
}

/// The price that the tasks of a placed job pay, subtracted from the earnings of its machines. An
/// exclusive job pays all that its machines earn, a job that stays what it was taken to pay.
Int128 pay(const Pricing& pricing, const JobPlacement& placed, const StayOffer* offer,
           GapSums& sums) {
  const model::WorkloadView& workload = pricing.instance.workload;
  const auto groups = workload.groups_of(workload.job(placed.job));
  Int128 total = 0;
  const auto add = [&](const PricedPool& pool, Int128 price) {
    sums.idle(pool.type, -price);
    total += price;
  };
  if (offer != nullptr && stays(workload, placed)) {
    for (const StayItem& s : offer->items) add(pricing.price_table.at(s.machine), s.pays);
    return total;
  }
  if (workload.rules_of(workload.job(placed.job)).exclusive) {
    for (const MachineId m : machines_of(placed.tasks)) {
      const PricedPool& pool = pricing.price_table.at(m);
      add(pool, pool.worth);
    }
    return total;
  }
  if (!pricing.gangs.empty()) {
    const model::Job& job = workload.job(placed.job);
    const PlacementExtent r = extent_of(pricing.instance, placed);
    const auto price =
        pricing.gangs.price(job, JobValue(pricing.instance, pricing.objective, job), r.type);
    if (price && r.width == model::Level::rack) {
      add(pricing.price_table.at(placed.tasks.front().machine), *price);
      return total;
    }
  }
  for (const model::TaskPlacement& task : placed.tasks) {
    const PricedPool& pool = pricing.price_table.at(task.machine);
    add(pool, pricing.price_table.task(pool, groups[task.group].shape));
  }
  return total;
}

/// Value of a placed job plus the stop cost saved.
Int128 worth_of(const Pricing& pricing, const JobPlacement& placed, const PlacementExtent& r) {
  const model::WorkloadView& workload = pricing.instance.workload;
  const JobValue worth(pricing.instance, pricing.objective, workload.job(placed.job));
  Int128 gain = fixed_up(worth.at(r.type, r.width, r.distance), pricing.scale_log2) +
                fixed_down(worth.stop_cost(), pricing.scale_log2);
  if (!stays(workload, placed)) gain -= fixed_down(worth.move_cost(), pricing.scale_log2);
  return gain;
}

}  // namespace

void add_by_prices(const Pricing& pricing, const JobSubset& subset, const JobBests& bests,
                   const OwnPrices& own, GapSums& sums) {
  const auto add = [&](const Visited& visited) {
    const auto& [id, best, stay, placed] = visited;
    const model::Job& job = pricing.instance.workload.job(id);
    const auto price = own.find(id);
    const bool pays = price == own.end();  // pays for its tasks
    const std::int64_t milli = milli_of(pricing.instance.workload, job);
    const bool chosen = pricing.whole_jobs.in_cluster() && milli > 0;
    std::optional<StayOffer> offer;
    if (stay != nullptr) offer = stay_offer(*stay, job.required && placed != nullptr);
    const Int128 net = offer ? offer->others : best.net.value_or(0);
    Int128 missed = !pays ? price->second : chosen ? 0 : std::max<Int128>(0, net);
    if (placed != nullptr) {
      const ByLimitKind paid = pricing.price_table.place_limits().paid(job, placed->tasks);
      const Int128 quota = pricing.price_table.quota_prices().of(job);
      sums.limits(paid, -1);
      if (pricing.whole_jobs.in_cluster()) {
        sums.whole_jobs(-quota);  // the choice keeps to the quotas
      } else {
        sums.limits(model::LimitKind::gpu_quota, -quota);
      }
      const PlacementExtent r = extent_of(pricing.instance, *placed);
      const Int128 worth = worth_of(pricing, *placed, r) - sum_of(paid) - quota;
      if (!pays) return sums.idle(r.type, missed - worth);
      if (job.required || chosen) missed = net;
      Int128 earned = chosen ? net : 0;  // of what a choice of whole jobs earns
      if (best.home && r.distance <= model::Level::rack)
        earned = std::max<Int128>(0, *best.home - missed);
      if (!chosen) missed += earned;
      sums.whole_jobs(-earned);
      missed -= worth - pay(pricing, *placed, offer ? &*offer : nullptr, sums);
    }
    sums.regret(milli, missed);
  };
  visit_each(subset, bests, add);
}

void add_by_values(const Pricing& pricing, const JobSubset& subset, const JobBests& bests,
                   GapSums& sums) {
  const auto add = [&](const Visited& visited) {
    const JobPlacement* const placed = visited.placed;
    const model::Job& job = pricing.instance.workload.job(visited.id);
    const Int128 gross = visited.best.gross.value_or(0);
    Int128 missed = std::max<Int128>(0, gross);
    if (placed != nullptr) {
      if (job.required) missed = gross;
      missed -= worth_of(pricing, *placed, extent_of(pricing.instance, *placed));
    }
    sums.regret(milli_of(pricing.instance.workload, job), missed);
  };
  visit_each(subset, bests, add);
}

void add_by_capacity(const Pricing& pricing, const JobSubset& subset, GapSums& sums) {
  const model::WorkloadView& workload = pricing.instance.workload;
  for (const JobPlacement& placed : subset.placement) {
    const auto groups = workload.groups_of(workload.job(placed.job));
    for (const model::TaskPlacement& task : placed.tasks) {
      const auto milli =
          static_cast<double>(workload.shape(groups[task.group].shape).total_milli());
      if (milli == 0.0) continue;
      sums.idle(pricing.price_table.at(task.machine).type, -fixed_up(milli, pricing.scale_log2));
    }
  }
}

}  // namespace berth::certify
