// SPDX-License-Identifier: Apache-2.0
#include "prove.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "berth/base/assert.hpp"

namespace berth::pipeline {
namespace {

/// Scale of a certificate for prices up to `largest`: 2^40 units keep prices per thousandth and per
/// MiB exact to 1e-12; smaller if 60 bits would not hold `largest`.
std::int32_t scale_for(double largest) {
  constexpr int kMost = 40;
  if (!(largest > 0.0)) return kMost;
  return std::clamp(60 - static_cast<int>(std::ceil(std::log2(largest))), 0, kMost);
}

}  // namespace

std::int64_t to_signed_fixed(double price, std::int32_t scale_log2) {
  constexpr double kMost = 0x1p60;  // 63 bits less room for sums of a few prices
  return std::llround(std::clamp(std::ldexp(price, scale_log2), -kMost, kMost));
}

std::int64_t as_price(Int128 amount) {
  return static_cast<std::int64_t>(std::clamp<Int128>(amount, 0, Int128{1} << 60));
}

std::int64_t to_fixed(double price, std::int32_t scale_log2) {
  return to_signed_fixed(std::max(0.0, price), scale_log2);
}

model::Certificate without_search(model::Certificate certificate) {
  certificate.search_steps = 0;
  return certificate;
}

model::Certificate from_pools(const planner_model::Pools& pools, std::span<const double> prices,
                              double largest) {
  model::Certificate certificate;
  certificate.level = pools.level;
  for (const double price : prices) largest = std::max(largest, price);
  certificate.scale_log2 = scale_for(largest);
  for (std::size_t p = 0; p < pools.size(); ++p) {
    const planner_model::Pool& pool = pools.pools[p];
    const std::int64_t milli = to_fixed(prices[p] / 1000.0, certificate.scale_log2);
    if (milli > 0) certificate.pools.push_back({pool.pod, pool.rack, pool.machine_class, milli});
  }
  return certificate;
}

model::Certificate from_shapes(std::span<const solver::TaskPrice> prices) {
  model::Certificate certificate;
  double largest = 0.0;
  for (const auto& p : prices) largest = std::max(largest, p.price);
  certificate.scale_log2 = scale_for(largest);
  for (const auto& p : prices) {
    const std::int64_t price = to_fixed(p.price, certificate.scale_log2);
    if (price > 0) certificate.shapes.push_back({p.shape, p.gpu_type, price});
  }
  return certificate;
}

void add_multipliers(model::Certificate& certificate,
                     std::span<const solver::ResourceMultiplier> multipliers) {
  for (const solver::ResourceMultiplier& m : multipliers) {
    model::Certificate::ClassMultiplier added{.machine_class = m.machine_class};
    for (std::size_t r = 0; r < model::kResources; ++r) {
      added.unit_price[r] = to_fixed(m.unit_price[r], certificate.scale_log2);
    }
    if (!added.unit_price.none()) certificate.multipliers.push_back(added);
  }
}

void add_limit_prices(model::Certificate& certificate, const planner_model::LimitGroups& groups,
                      std::span<const double> prices, std::size_t first, std::size_t last) {
  for (std::size_t k = first; k < last; ++k) {
    // Quota prices are rounded down, so that the price of a soft quota stays within its penalty.
    const bool quota = k < groups.limits().of_queues();
    const double milli = std::ldexp(prices[k] / model::kGpuMilli, certificate.scale_log2);
    const std::int64_t price = quota ? static_cast<std::int64_t>(std::floor(milli))
                                     : to_fixed(prices[k], certificate.scale_log2);
    if (price <= 0) continue;
    for (const std::size_t limit : groups.priced_by(k)) {
      const planner_model::CouplingLimit& priced = groups.limits()[limit];
      certificate.limits.push_back({priced.kind, priced.scope, price});
    }
  }
}

Proof tightest(const model::InstanceView& instance, model::Objective objective,
               std::vector<model::Certificate> candidates) {
  const std::vector<JobId> jobs = model::planned_jobs(instance.workload);
  const auto alone = comm::Communicator::serial();
  return tightest(DistributedJudge(alone, instance, objective, jobs), std::move(candidates));
}

Proof tightest(const DistributedJudge& judge, std::vector<model::Certificate> candidates) {
  const comm::Communicator& comm = judge.comm();
  BERTH_EXPECT(comm.rank() != 0 || !candidates.empty());
  std::size_t count = candidates.size();
  comm.broadcast_value(count);
  candidates.resize(count);
  comm.agreed_on_root([&] {
    for (auto& candidate : candidates) {
      if (candidate.tree.empty()) candidate = judge.fitted(std::move(candidate));
    }
  });
  Proof best;
  for (std::size_t i = 0; i < count; ++i) {
    const double bound = judge.bound(candidates[i]).value;
    if (i == 0 || bound < best.upper_bound) best = {std::move(candidates[i]), bound};
  }
  return best;
}

}  // namespace berth::pipeline
