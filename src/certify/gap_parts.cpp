// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/gap_parts.hpp"

#include "case_tree.hpp"
#include "exact.hpp"
#include "job_gaps.hpp"
#include "machine_profit_bound.hpp"
#include "pricing.hpp"
#include "spare_gpus.hpp"
#include "stay_gains.hpp"
#include "whole_job_bound.hpp"

#include <algorithm>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/certify/bound.hpp"
#include "berth/certify/figures.hpp"

namespace berth::certify {
namespace {

using model::BoundBasis;
using model::GapParts;
using model::InstanceView;

BoundBasis basis_of(const Bound& bound, model::Objective kind) {
  const Int128 by_prices = bound.machines + bound.shared + bound.jobs;
  const Int128 least = std::min(by_prices, bound.zero_price);
  const bool capacity = model::traits(kind).gpu_milli && bound.capacity < least;
  if (bound.search && *bound.search < (capacity ? bound.capacity : least))
    return BoundBasis::search;
  if (capacity) return BoundBasis::capacity;
  return by_prices <= bound.zero_price ? BoundBasis::prices : BoundBasis::values;
}

/// Adds the most that all machines can earn; where jobs have prices of their own, without the
/// devices that are entirely free.
void add_machines(const Pricing& pricing, const MachineProfitBound& worth, bool devices,
                  GapSums& sums) {
  for (const PricedPool& pool : pricing.price_table.pools()) {
    sums.idle(pool.type, (devices ? worth(pool) : worth.beyond_devices(pool)) * pool.machines);
  }
}

/// Adds whole jobs on these devices, as restricted at the leaf of this plan. Returns the leaf's
/// prices.
OwnPrices add_leaf(const Pricing& pricing, const model::Certificate& certificate,
                   const JobSubset& subset, const Bound& bound, GapSums& sums) {
  const InstanceView& instance = pricing.instance;
  BERTH_EXPECT(!instance.workload.in_parts());
  const CaseTree tree(instance, certificate, required_placed(instance, subset));
  const Leaf leaf = tree.leaf(tree.leaf_of(instance, subset.placement));
  const MachineProfitBound worth(instance, pricing.price_table, certificate, {});
  const auto most = whole_job_bounds(pricing, tree.spots(), leaf, worth);
  Int128 beyond = bound.leaf;  // devices and prices of jobs at the largest leaf
  for (std::size_t t = 0; t < most.size(); ++t) {
    sums.idle(GpuTypeId(t), most[t]);
    beyond -= most[t];
  }
  OwnPrices own;
  for (const auto& j : certificate.jobs) own[j.job] = 0;
  for (const auto& j : leaf.prices) {
    own[j.job] = j.price;
    beyond -= j.price;
  }
  sums.leaves(beyond);  // with one leaf: 0
  return own;
}

/// Adds the free GPU thousandths.
void add_capacity(const Pricing& pricing, GapSums& sums) {
  for (const PricedPool& pool : pricing.price_table.pools()) {
    const auto milli =
        static_cast<double>(pricing.price_table.variants()[pool.variant].free_milli());
    sums.idle(pool.type, fixed_up(milli, pricing.scale_log2) * pool.machines);
  }
}

GapParts of_search(const model::Figures& figures) {
  GapParts parts;
  parts.basis = BoundBasis::search;
  parts.leaves = figures.upper_bound - figures.objective;
  return parts;
}

}  // namespace

GapSums job_gaps(const InstanceView& instance, model::Objective kind, const JobSubset& subset,
                 const model::Certificate& certificate, const JobFacts& facts,
                 const JobBests& bests, const Bound& bound) {
  const Pricing pricing(instance, kind, certificate, facts);
  GapSums sums;
  switch (basis_of(bound, kind)) {
    case BoundBasis::prices: {
      OwnPrices own;
      if (!certificate.jobs.empty()) own = add_leaf(pricing, certificate, subset, bound, sums);
      add_by_prices(pricing, subset, bests, own, sums);
      break;
    }
    case BoundBasis::values:
      add_by_values(pricing, subset, bests, sums);
      break;
    case BoundBasis::capacity:
      add_by_capacity(pricing, subset, sums);
      break;
    case BoundBasis::search:
      break;
  }
  return sums;
}

GapParts gap_parts(const InstanceView& instance, model::Objective kind,
                   const model::Certificate& certificate, const PlanTotals& totals, GapSums jobs) {
  const BoundBasis basis = basis_of(totals.bound, kind);
  const Pricing pricing(instance, kind, certificate);
  GapSums& sums = jobs;
  if (basis == BoundBasis::search) return of_search(totals.figures);
  const auto quotas = model::LimitKind::gpu_quota;
  sums.limits(quotas, pricing.quotas.penalty(totals.placed.quotas, certificate.scale_log2));
  if (model::traits(kind).costs) {
    sums.limits(model::LimitKind::spare,
                spare_penalty(instance.cluster, totals.placed.spare, certificate.scale_log2));
  }
  if (basis == BoundBasis::prices) {
    const MachineProfitBound worth(instance, pricing.price_table, certificate, totals.facts);
    add_machines(pricing, worth, certificate.jobs.empty(), sums);
    const auto stays = stay_gains(pricing.price_table, worth, totals.stays);
    for (const MachineGain& gain : stays) sums.idle(gain.type, gain.amount);
    for (const auto& gain : pricing.gangs.gains(pricing.price_table, worth, stays)) {
      sums.idle(gain.type, gain.amount);
    }
    ByLimitKind value = pricing.price_table.place_limits().capacity_value();
    sums.whole_jobs(totals.bound.chosen);
    if (!certificate.whole_jobs.in_cluster()) {
      value[index_of(quotas)] += pricing.price_table.quota_prices().capacity_value(pricing.quotas);
    }
    sums.limits(value, +1);
  }
  if (basis == BoundBasis::capacity) add_capacity(pricing, sums);
  return sums.parts(instance.cluster, basis, certificate.scale_log2,
                    totals.figures.upper_bound - totals.figures.objective);
}

GapParts gap_parts(const InstanceView& instance, model::Objective kind,
                   const model::Placement& placement, const model::Certificate& certificate,
                   const model::Figures& figures) {
  const std::vector<JobId> jobs = model::planned_jobs(instance.workload);
  const JobSubset subset{jobs, placement};
  const JobFacts facts = job_facts(instance, kind, jobs);
  const JobBests bests = job_bests(instance, kind, certificate, facts, jobs);
  const std::vector<JobId> required = required_placed(instance, subset);
  const JobTerms terms = job_terms(instance, certificate, jobs, bests, required);
  const Bound bound = upper_bound(instance, kind, certificate, facts, terms, required);
  const PlacementSums placed = placement_sums(instance, kind, placement);
  return gap_parts(instance, kind, certificate, {facts, placed, bound, figures, terms.stays},
                   job_gaps(instance, kind, subset, certificate, facts, bests, bound));
}

}  // namespace berth::certify
