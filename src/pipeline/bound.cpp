// SPDX-License-Identifier: Apache-2.0
#include "bound.hpp"

#include "relax.hpp"
#include "spare_prices.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace berth::pipeline {
namespace {

double largest_of(std::span<const double> prices) {
  return prices.empty() ? 0.0 : *std::ranges::max_element(prices);
}

/// Certificates of the prices found so far.
std::vector<model::Certificate> candidates(const PlanningContext& context,
                                           const LocalSolution& solution) {
  const planner_model::LimitGroups& groups = context.limit_groups;
  const coordinator::Consensus& consensus = solution.relaxation.consensus;
  std::vector<model::Certificate> found{
      from_pools(context.pools, consensus.prices, largest_of(consensus.limits))};
  for (const auto& prices : solution.local.task_prices) {
    if (!prices.empty()) found.push_back(from_shapes(prices));
  }
  std::vector<std::span<const double>> of_limits(found.size(), consensus.limits);
  const solver::ConfigurationSolution& configurations = solution.relaxation.configurations;
  if (configurations.solved()) {
    found.push_back(from_shapes(configurations.prices));
    if (!configurations.multipliers.empty()) {
      found.push_back(found.back());
      add_multipliers(found.back(), configurations.multipliers);
    }
  }
  of_limits.resize(found.size(), configurations.limit_prices);
  const std::size_t quotas = groups.limits().of_queues();
  const std::size_t without = found.size();
  for (std::size_t i = 0; i < without; ++i) {
    add_limit_prices(found[i], groups, of_limits[i], 0, quotas);
    if (largest_of(of_limits[i].subspan(quotas)) <= 0.0) continue;
    found.push_back(found[i]);
    add_limit_prices(found.back(), groups, of_limits[i], quotas, groups.prices());
  }
  const model::InstanceView& instance = context.unpriced.instance();
  const bool spare = !instance.cluster.spare.empty() && traits(context.options.objective).costs;
  const std::size_t beside_spare = spare ? found.size() : 0;
  for (std::size_t i = 0; i < beside_spare; ++i) {
    found.push_back(found[i]);
    add_spare_prices(found.back(), instance, context.pools);
  }
  return found;
}

}  // namespace

bool is_small(const PlanningContext& context) {
  const model::InstanceView& instance = context.unpriced.instance();
  return context.options.exact.takes(instance.cluster.gpus(),
                                     static_cast<std::int64_t>(instance.workload.size()));
}

DistributedJudge judge_of(const PlanningContext& context, std::span<const JobId> home) {
  return context.stages.run("bound", [&] {
    return DistributedJudge(context.comm, context.unpriced.instance(), context.options.objective,
                            home);
  });
}

Proof bound(const PlanningContext& context, const DistributedJudge& judge,
            const LocalSolution& solution) {
  return context.stages.run("bound", [&] {
    return tightest(judge, context.comm.rank() == 0 ? candidates(context, solution)
                                                    : std::vector<model::Certificate>{});
  });
}

}  // namespace berth::pipeline
