// SPDX-License-Identifier: Apache-2.0
#include "search_again.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "berth/solver/search_at_prices.hpp"

namespace berth::pipeline {
namespace {

using model::Certificate;

/// Chains that look at so many machines and jobs in all, and ten repartitions for each: a shard's,
/// less in larger clusters. Chosen, not tuned.
constexpr std::int64_t kRecordsSeen = 1'000'000;
constexpr int kRepartitions = 10;

/// Value per GPU of a price per thousandth.
double per_gpu(const Certificate& certificate, std::int64_t milli) {
  return std::ldexp(static_cast<double>(milli) * model::kGpuMilli, -certificate.scale_log2);
}

/// By GPU type, per thousandth: the most that tasks of whole GPUs pay for it by their shape.
std::vector<std::int64_t> shape_prices(const model::InstanceView& instance,
                                       const Certificate& certificate) {
  std::vector<std::int64_t> of_type(instance.cluster.gpu_types.size(), 0);
  for (const Certificate::ShapePrice& s : certificate.shapes) {
    const std::int64_t milli = instance.workload.shape(s.shape).gpus * model::kGpuMilli;
    if (!s.gpu_type.valid() || milli == 0) continue;
    std::int64_t& most = of_type[s.gpu_type.index()];
    most = std::max(most, s.price / milli);
  }
  return of_type;
}

/// Prices of a certificate's pools per thousandth; without a rack: the most in the pod.
using PricesOfPools = std::map<std::tuple<PodId, RackId, ClassId>, std::int64_t>;

PricesOfPools listed_prices(const Certificate& certificate) {
  PricesOfPools prices;
  for (const Certificate::PoolPrice& p : certificate.pools) {
    for (const RackId rack : {p.rack, RackId()}) {
      std::int64_t& most = prices[{p.pod, rack, p.machine_class}];
      most = std::max(most, p.gpu_milli);
    }
  }
  return prices;
}

/// By PoolId, per GPU.
std::vector<double> pool_prices(const PlanningContext& context, const Certificate& certificate) {
  const auto of_type = shape_prices(context.unpriced.instance(), certificate);
  const PricesOfPools listed = listed_prices(certificate);
  std::vector<double> prices;
  for (const planner_model::Pool& pool : context.pools.pools) {
    std::int64_t price = certificate.whole_jobs.gpu_milli;
    if (pool.gpu_type.valid()) price += of_type[pool.gpu_type.index()];
    const RackId rack = certificate.level == model::Level::rack ? pool.rack : RackId();
    const auto at = listed.find({pool.pod, rack, pool.machine_class});
    prices.push_back(per_gpu(certificate, price + (at == listed.end() ? 0 : at->second)));
  }
  return prices;
}

/// As LimitGroups::prices; those of groups are 0.
std::vector<double> quota_prices(const PlanningContext& context, const Certificate& certificate) {
  std::vector<double> prices(context.limit_groups.prices(), 0.0);
  for (std::size_t k = 0; k < context.limits.of_queues(); ++k) {
    const planner_model::CouplingLimit& limit = context.limits[k];
    for (const Certificate::LimitPrice& p : certificate.limits) {
      if (p.kind == limit.kind && p.scope == limit.scope) prices[k] = per_gpu(certificate, p.price);
    }
  }
  return prices;
}

/// The prices of a certificate as a search takes them, and its effort.
struct PricedSearch {
  std::vector<double> of_pools, of_limits;
  planner_model::Valuation priced;
  planner_model::CouplingLimits charged;
  solver::SearchEffort effort;

  PricedSearch(const PlanningContext& context, const Certificate& certificate)
      : of_pools(pool_prices(context, certificate)),
        of_limits(quota_prices(context, certificate)),
        priced(context.unpriced.instance(), context.unpriced.objective(),
               planner_model::SharedPrices(context.limit_groups, of_limits)),
        charged(context.limits),
        effort(context.options.shard.dive.effort) {
    const auto quotas = static_cast<std::ptrdiff_t>(context.limits.of_queues());
    charged.charge({of_limits.begin(), of_limits.begin() + quotas});
    const model::InstanceView& instance = context.unpriced.instance();
    const auto records =
        static_cast<std::int64_t>(instance.cluster.machines() + instance.workload.size());
    effort.chains = std::min(effort.chains, static_cast<int>(kRecordsSeen / records));
    effort.repartitions = std::min(effort.repartitions, kRepartitions * effort.chains);
  }

  [[nodiscard]] solver::SearchPrices prices(const PlanningContext& context,
                                            const solver::RunContext& run) const {
    return {priced, run.limits == nullptr ? nullptr : &charged, {context.pools, of_pools}};
  }
};

}  // namespace

double search_again(const PlanningContext& context, const Certificate& certificate,
                    const solver::RunContext& run, model::Placement& placement) {
  const PricedSearch search(context, certificate);
  return solver::search_at_prices(context.unpriced, search.prices(context, run), search.effort, run,
                                  placement);
}

double relocate_gangs(const PlanningContext& context, const Certificate& certificate, double slack,
                      const solver::RunContext& run, model::Placement& placement) {
  const PricedSearch search(context, certificate);
  return solver::relocate_gangs_at_prices(context.unpriced, search.prices(context, run), slack,
                                          search.effort, run, placement);
}

}  // namespace berth::pipeline
