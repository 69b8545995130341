// SPDX-License-Identifier: Apache-2.0
#include "pricing.hpp"

#include "machine_profit_bound.hpp"

#include <algorithm>

namespace berth::certify {

Pricing::Pricing(const model::InstanceView& all, model::Objective kind,
                 const model::Certificate& certificate)
    : instance(all),
      objective(kind),
      scale_log2(certificate.scale_log2),
      price_table(all, certificate),
      gangs(all, price_table, certificate),
      quotas(all, kind),
      whole_jobs(certificate.whole_jobs),
      stays_on_machines(certificate.jobs.empty()) {
  for (std::size_t t = 0; t < all.cluster.gpu_types.size(); ++t) {
    const bool exists = std::ranges::any_of(all.cluster.classes, [&](const model::MachineClass& c) {
      return c.gpu_type == GpuTypeId(t);
    });
    if (exists) types.emplace_back(t);
  }
}

Pricing::Pricing(const model::InstanceView& all, model::Objective kind,
                 const model::Certificate& certificate, const JobFacts& facts)
    : Pricing(all, kind, certificate) {
  if (std::ranges::none_of(all.workload.tables().rules, &model::PlacementRules::exclusive)) return;
  price_table.value_machines(MachineProfitBound(all, price_table, certificate, facts));
}

}  // namespace berth::certify
