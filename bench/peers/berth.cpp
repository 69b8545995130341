// SPDX-License-Identifier: Apache-2.0
#include "from_instance.hpp"

#include "berth/pipeline/plan_cluster.hpp"
#include "berth/planner_model/pools.hpp"
#include "berth/solver/market.hpp"

namespace berth::peers {

// The time includes building the market, as the peers' time includes building the graph.
double bound_by_prices(const model::Instance& instance) {
  const planner_model::Valuation value(instance, model::Objective::value);
  const auto pools = planner_model::make_pools(
      instance.cluster, planner_model::pool_level(instance, model::Objective::value));
  std::vector<JobId> jobs;
  for (std::size_t j = 0; j < instance.workload.jobs.size(); ++j) jobs.emplace_back(j);
  solver::Market market(value, pools, jobs, solver::full_supply(instance.cluster, pools));
  const auto dual = [&](std::span<const double> prices, double eps, std::span<double> gradient) {
    return market.dual(prices, eps, gradient);
  };
  return solver::minimise_market(dual, market.shape(), {}, {}).bound;
}

Planned plan(const model::Instance& instance) {
  report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
  pipeline::PlanOptions options;
  options.partition.shards = 1;
  const model::Plan made =
      pipeline::plan_cluster(comm::Communicator::serial(), instance, options, silent);
  return {.bound = made.figures.upper_bound, .value = made.figures.objective};
}

}  // namespace berth::peers
