// SPDX-License-Identifier: Apache-2.0
#include "pricing.hpp"

#include <algorithm>

namespace berth::certify {

Pricing::Pricing(const model::InstanceView& all, model::Objective kind,
                 const model::Certificate& certificate)
    : instance(all),
      objective(kind),
      scale_log2(certificate.scale_log2),
      price_table(all, certificate),
      quotas(all, kind),
      whole_jobs(certificate.whole_jobs) {
  for (std::size_t t = 0; t < all.cluster.gpu_types.size(); ++t) {
    const bool exists = std::ranges::any_of(all.cluster.classes, [&](const model::MachineClass& c) {
      return c.gpu_type == GpuTypeId(t);
    });
    if (exists) types.emplace_back(t);
  }
}

}  // namespace berth::certify
