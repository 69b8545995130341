// SPDX-License-Identifier: Apache-2.0
#include "relax.hpp"

#include "configurations.hpp"
#include "spare_prices.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

namespace berth::pipeline {
namespace {

std::unique_ptr<const planner_model::Valuation> priced(const PlanningContext& context,
                                                       const coordinator::Consensus& consensus) {
  return std::make_unique<const planner_model::Valuation>(
      context.unpriced.instance(), context.unpriced.objective(),
      planner_model::SharedPrices(context.limit_groups, consensus.limits));
}

std::unique_ptr<const planner_model::CouplingLimits> limits_of(
    const PlanningContext& context, const coordinator::Consensus& consensus) {
  if (context.limits.empty()) return nullptr;
  auto limits = std::make_unique<planner_model::CouplingLimits>(context.limits);
  const auto quotas = static_cast<std::ptrdiff_t>(limits->of_queues());
  limits->charge({consensus.limits.begin(), consensus.limits.begin() + quotas});
  return limits;
}

}  // namespace

GlobalRelaxation relax(const PlanningContext& context, coordinator::JobRecords& records) {
  GlobalRelaxation relaxation = context.stages.run("relax", [&] {
    records.scatter([&] {
      return records.only_home(coordinator::jobs_by_evaluator(
          context.unpriced, static_cast<std::size_t>(context.comm.size())));
    });
    coordinator::Consensus consensus = consensus_beside_spare(context);
    records.retain_only({});
    GlobalRelaxation found = at_prices(context, std::move(consensus));
    found.configurations = solve_configurations(context, records, found.consensus);
    return found;
  });
  context.progress.line({.stage = "relax",
                         .objective = std::nan(""),
                         .bound = relaxation.consensus.bound - context.unpriced.stop_costs()});
  return relaxation;
}

GlobalRelaxation at_prices(const PlanningContext& context, coordinator::Consensus consensus) {
  GlobalRelaxation relaxation{
      .consensus = std::move(consensus), .valuation = {}, .limits = {}, .configurations = {}};
  relaxation.valuation = priced(context, relaxation.consensus);
  relaxation.limits = limits_of(context, relaxation.consensus);
  return relaxation;
}

coordinator::Decomposition decompose(const PlanningContext& context,
                                     const GlobalRelaxation& relaxation) {
  return {.valuation = *relaxation.valuation,
          .shards = context.shards,
          .owners = context.owners,
          .pools = context.pools,
          .prices = relaxation.consensus.prices};
}

solver::RunContext run_context(const PlanningContext& context, const GlobalRelaxation& relaxation) {
  return {.gap = context.options.gap,
          .seed = context.options.seed,
          .stop = context.stop,
          .limits = relaxation.limits.get()};
}

}  // namespace berth::pipeline
