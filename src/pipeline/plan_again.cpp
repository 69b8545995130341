// SPDX-License-Identifier: Apache-2.0
#include "plan_again.hpp"

#include "assign.hpp"
#include "coordinate.hpp"

#include <utility>

#include "berth/partition/partition.hpp"
#include "berth/report/progress.hpp"

namespace berth::pipeline {

model::Placement plan_again(const PlanningContext& context, PlanOptions options,
                            coordinator::JobRecords& records, LocalSolution& solution,
                            const Proof& proof) {
  options.checkpoint = {};
  const model::Cluster& cluster = context.unpriced.instance().cluster;
  const partition::Shards shards = partition::split(cluster, options.partition);
  const partition::Ownership owners = partition::own(cluster, shards, context.comm.size());
  report::ProgressTable quiet({.verbosity = 0});
  const PlanningContext& c = context;
  const PlanningContext other{c.comm, c.unpriced, c.limits, c.limit_groups, c.pools, shards,
                              owners, options,    c.stages, quiet,          c.stop,  c.digest};
  coordinator::Assignment assignment = assign(other, records, solution.relaxation);
  LocalSolution again =
      round(other, records, std::move(solution.relaxation), std::move(assignment));
  GlobalPlacement placed = coordinate(other, records, again, proof);
  solution.relaxation = std::move(again.relaxation);
  return std::move(placed.placement);
}

}  // namespace berth::pipeline
