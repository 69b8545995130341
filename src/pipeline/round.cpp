// SPDX-License-Identifier: Apache-2.0
#include "round.hpp"

#include <utility>

#include "berth/coordinator/limit_allocation.hpp"

namespace berth::pipeline {

LocalSolution round(const PlanningContext& context, coordinator::JobRecords& records,
                    GlobalRelaxation relaxation, coordinator::Assignment assignment) {
  LocalSolution solution;
  solution.local = context.stages.run("round", [&] {
    return coordinator::plan_shards(context.comm, decompose(context, relaxation), records,
                                    assignment, shard_settings(context, relaxation));
  });
  solution.relaxation = std::move(relaxation);
  solution.rounds.spanning = std::move(assignment.spanning);
  if (solution.relaxation.limits == nullptr) return solution;
  context.stages.run("settle", [&] {
    coordinator::LimitAllocation(context.comm, *solution.relaxation.valuation,
                                 *solution.relaxation.limits, solution.rounds.spanning)
        .enforce(solution.local.mine, solution.rounds.spanning);
  });
  return solution;
}

coordinator::ShardSettings shard_settings(const PlanningContext& context,
                                          const GlobalRelaxation& relaxation) {
  return {.options = context.options.shard, .run = run_context(context, relaxation)};
}

}  // namespace berth::pipeline
