// SPDX-License-Identifier: Apache-2.0
#include "spare_prices.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace berth::pipeline {
namespace {

using model::Certificate;
using model::Spare;
using planner_model::Pool;
using planner_model::Pools;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::size_t row_of(const model::Cluster& cluster, const Spare* spare) {
  return static_cast<std::size_t>(spare - cluster.spare.data());
}

/// By PoolId: the pools' parts of these rows of spare GPUs, in thousandths, in proportion to their
/// capacities.
std::vector<std::int64_t> kept_free(const model::Cluster& cluster, const Pools& pools,
                                    const std::vector<bool>& rows) {
  std::vector<std::int64_t> all(rows.size(), 0), kept(pools.size(), 0);
  const auto spare_of = [&](const Pool& pool) {
    const Spare* spare = cluster.spare_of(pool.pod, pool.gpu_type);
    return spare != nullptr && rows[row_of(cluster, spare)] ? spare : nullptr;
  };
  for (const Pool& pool : pools.pools) {
    if (const Spare* spare = spare_of(pool)) all[row_of(cluster, spare)] += pool.gpu_milli;
  }
  for (std::size_t p = 0; p < pools.size(); ++p) {
    const Spare* spare = spare_of(pools.pools[p]);
    if (spare == nullptr) continue;
    const double part = static_cast<double>(pools.pools[p].gpu_milli) /
                        static_cast<double>(all[row_of(cluster, spare)]);
    kept[p] = std::llround(part * static_cast<double>(model::kGpuMilli * spare->gpus));
  }
  return kept;
}

/// The largest price of spare GPUs in the certificate's fixed point.
std::int64_t most_for(const Spare& spare, const Certificate& certificate) {
  return static_cast<std::int64_t>(
      std::floor(std::ldexp(spare.penalty / model::kGpuMilli, certificate.scale_log2)));
}

using PoolKey = std::tuple<PodId, RackId, ClassId>;

void add_from_pools(Certificate& certificate, const model::Cluster& cluster, const Pools& pools) {
  std::map<PoolKey, Certificate::PoolPrice*> listed;
  for (Certificate::PoolPrice& p : certificate.pools) {
    listed.emplace(PoolKey{p.pod, p.rack, p.machine_class}, &p);
  }
  std::vector<std::int64_t> price;  // by row
  for (const Spare& spare : cluster.spare) price.push_back(most_for(spare, certificate));
  const auto each = [&](const auto& visit) {
    for (const Pool& pool : pools.pools) {
      const Spare* spare = cluster.spare_of(pool.pod, pool.gpu_type);
      if (spare == nullptr) continue;
      const auto at = listed.find({pool.pod, pool.rack, pool.machine_class});
      visit(price[row_of(cluster, spare)], at == listed.end() ? nullptr : at->second);
    }
  };
  each([](std::int64_t& row, const Certificate::PoolPrice* pool) {
    row = std::min(row, pool == nullptr ? 0 : pool->gpu_milli);
  });
  each([](std::int64_t row, Certificate::PoolPrice* pool) {
    if (pool != nullptr) pool->gpu_milli -= row;
  });
  for (std::size_t s = 0; s < price.size(); ++s) {
    const Spare& spare = cluster.spare[s];
    if (price[s] <= 0) continue;
    certificate.limits.push_back(
        {model::LimitKind::spare, {.pod = spare.pod, .gpu_type = spare.gpu_type}, price[s]});
  }
}

/// By GPU type: the least penalty of its pods, in fixed point; 0 where a pod has no spare GPUs.
std::vector<std::int64_t> most_by_type(const Certificate& certificate,
                                       const model::Cluster& cluster, const Pools& pools) {
  std::vector<std::int64_t> most(cluster.gpu_types.size(), kMost);
  for (const Pool& pool : pools.pools) {
    if (!pool.gpu_type.valid()) continue;
    const Spare* spare = cluster.spare_of(pool.pod, pool.gpu_type);
    std::int64_t& least = most[pool.gpu_type.index()];
    least = std::min(least, spare == nullptr ? 0 : most_for(*spare, certificate));
  }
  return most;
}

void add_from_shapes(Certificate& certificate, const model::InstanceView& instance,
                     const Pools& pools) {
  std::vector<std::int64_t> price = most_by_type(certificate, instance.cluster, pools);
  const auto each = [&](const auto& visit) {
    for (Certificate::ShapePrice& s : certificate.shapes) {
      const std::int64_t milli = instance.workload.shape(s.shape).total_milli();
      if (s.gpu_type.valid() && milli > 0) visit(price[s.gpu_type.index()], milli, s.price);
    }
  };
  each([](std::int64_t& of_type, std::int64_t milli, std::int64_t task) {
    of_type = std::min(of_type, task / milli);
  });
  each([](std::int64_t of_type, std::int64_t milli, std::int64_t& task) {
    if (of_type < kMost) task -= of_type * milli;
  });
  for (const Spare& spare : instance.cluster.spare) {
    const std::int64_t of_type = price[spare.gpu_type.index()];
    if (of_type <= 0 || of_type == kMost) continue;
    certificate.limits.push_back(
        {model::LimitKind::spare, {.pod = spare.pod, .gpu_type = spare.gpu_type}, of_type});
  }
}

}  // namespace

coordinator::Consensus consensus_beside_spare(const PlanningContext& context) {
  const model::Cluster& cluster = context.unpriced.instance().cluster;
  const auto prices = [&](const std::vector<bool>& rows) {
    const auto kept = kept_free(cluster, context.pools, rows);
    return coordinator::consensus(context.comm, context.unpriced,
                                  {context.pools, context.limit_groups, kept},
                                  context.options.prices, context.stop);
  };
  std::vector<bool> rows(cluster.spare.size(), traits(context.unpriced.objective()).costs);
  coordinator::Consensus found = prices(rows);
  bool again = false;
  for (std::size_t p = 0; p < context.pools.size() && !rows.empty(); ++p) {
    const Pool& pool = context.pools.pools[p];
    const Spare* spare = cluster.spare_of(pool.pod, pool.gpu_type);
    if (spare == nullptr || !rows[row_of(cluster, spare)]) continue;
    if (found.prices[p] <= spare->penalty) continue;
    rows[row_of(cluster, spare)] = false;
    again = true;
  }
  return again ? prices(rows) : found;
}

void add_spare_prices(Certificate& certificate, const model::InstanceView& instance,
                      const Pools& pools) {
  if (instance.cluster.spare.empty()) return;
  if (certificate.shapes.empty()) {
    add_from_pools(certificate, instance.cluster, pools);
  } else {
    add_from_shapes(certificate, instance, pools);
  }
}

}  // namespace berth::pipeline
