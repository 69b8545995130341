// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/gap_parts.hpp"

#include "contents.hpp"
#include "exact.hpp"
#include "gap_sums.hpp"
#include "job_gaps.hpp"
#include "machine_worth.hpp"
#include "pricing.hpp"
#include "tree.hpp"

#include <algorithm>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/certify/bound.hpp"
#include "berth/certify/figures.hpp"

namespace berth::certify {
namespace {

using model::BoundBasis;
using model::GapParts;
using model::Instance;

BoundBasis basis_of(const Bound& bound, model::Objective kind) {
  const Int128 by_prices = bound.machines + bound.shared + bound.jobs;
  const Int128 least = std::min(by_prices, bound.zero_price);
  if (kind == model::Objective::allocate && bound.capacity < least) return BoundBasis::capacity;
  return by_prices <= bound.zero_price ? BoundBasis::prices : BoundBasis::values;
}

/// What all machines could earn at the leaf, by GPU type. Returns the sum over devices.
Int128 add_machines(const Pricing& pricing, const model::Certificate& certificate,
                    const Spots& spots, const Leaf& leaf, GapSums& sums) {
  const Instance& instance = pricing.instance;
  std::vector<bool> own_price(instance.workload.jobs.size(), false);
  for (const auto& j : certificate.jobs) own_price[j.job.index()] = true;
  const MachineWorth worth(instance, pricing.tariff, own_price);
  for (const Stock& pool : pricing.tariff.pools()) {
    const Int128 one = certificate.jobs.empty() ? worth(pool) : worth.beyond_devices(pool);
    sums.idle(pool.type, one * pool.machines);
  }
  Int128 total = 0;
  if (certificate.jobs.empty()) return total;
  const auto most =
      most_contents(instance, pricing.objective, certificate, spots, leaf, pricing.tariff, worth);
  for (std::size_t t = 0; t < most.size(); ++t) sums.idle(GpuTypeId(t), most[t]);
  for (const Int128 m : most) total += m;
  return total;
}

/// @param devices  what devices and prices of jobs add up to at the largest leaf
void by_prices(const Pricing& pricing, const model::Certificate& certificate,
               const JobsPlaced& jobs, Int128 devices, GapSums& sums) {
  const Instance& instance = pricing.instance;
  const Tree tree(instance, certificate, required_placed(instance, jobs.placement));
  const Leaf leaf = tree.leaf(tree.leaf_of(instance, jobs.placement));
  devices -= add_machines(pricing, certificate, tree.spots(), leaf, sums);
  for (const auto& j : leaf.prices) devices -= j.price;
  if (!certificate.jobs.empty()) sums.leaves(devices);  // of one leaf: 0
  sums.quotas(pricing.tariff.tolls().worth(pricing.quotas));
  sums.links(pricing.tariff.links().worth());
  OwnPrices own;
  for (const auto& j : certificate.jobs) own[j.job] = 0;
  for (const auto& j : leaf.prices) own[j.job] = j.price;
  add_by_prices(pricing, jobs, own, sums);
}

/// GPU thousandths that no task asked for.
void by_capacity(const Instance& instance, const model::Placement& placement, int scale,
                 GapSums& sums) {
  const model::Cluster& cluster = instance.cluster;
  const auto class_of = [&](MachineId m) -> const model::MachineClass& {
    return cluster.classes[cluster.machine_class[m.index()].index()];
  };
  const Kinds kinds(cluster);
  for (std::size_t m = 0; m < cluster.machine_class.size(); ++m) {
    const Kind& kind = kinds[kinds.of(MachineId(m))];
    sums.idle(kind.type, fixed_up(static_cast<double>(kind.free_milli()), scale));
  }
  for (const model::JobPlacement& p : placement) {
    const auto groups = instance.workload.groups_of(instance.workload.job(p.job));
    for (const model::TaskPlacement& task : p.tasks) {
      const model::Shape& s = instance.workload.shapes[groups[task.group].shape.index()];
      const auto milli = static_cast<double>(std::int64_t{1000} * s.gpus + s.gpu_milli);
      if (milli > 0.0) sums.idle(class_of(task.machine).gpu_type, -fixed_up(milli, scale));
    }
  }
}

}  // namespace

GapParts gap_parts(const Instance& instance, model::Objective kind,
                   const model::Placement& placement, const model::Certificate& certificate,
                   const model::Figures& figures) {
  const JobBests bests =
      job_bests(instance, kind, certificate, model::planned_jobs(instance.workload));
  const auto required = required_placed(instance, placement);
  const Bound bound = upper_bound(instance, kind, certificate, required, bests);
  return gap_parts(instance, kind, placement, certificate, figures, {bound, bests});
}

GapParts gap_parts(const Instance& instance, model::Objective kind,
                   const model::Placement& placement, const model::Certificate& certificate,
                   const model::Figures& figures, const Proved& proved) {
  const BoundBasis basis = basis_of(proved.bound, kind);
  const Pricing pricing(instance, kind, certificate);
  const JobsPlaced jobs{model::planned_jobs(instance.workload), proved.bests, placement};
  GapSums sums;
  sums.quotas(pricing.quotas.lost(placement, certificate.scale_log2));
  switch (basis) {
    case BoundBasis::prices:
      by_prices(pricing, certificate, jobs, proved.bound.leaf, sums);
      break;
    case BoundBasis::values:
      add_by_values(pricing, jobs, sums);
      break;
    case BoundBasis::capacity:
      by_capacity(instance, placement, certificate.scale_log2, sums);
      break;
  }
  return sums.parts(instance.cluster, basis, certificate.scale_log2,
                    figures.upper_bound - figures.objective);
}

}  // namespace berth::certify
