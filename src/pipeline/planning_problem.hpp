// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning_context.hpp"
#include "stages.hpp"

#include <string>

#include "berth/coordinator/job_records.hpp"
#include "berth/partition/partition.hpp"
#include "berth/pipeline/plan_cluster.hpp"
#include "berth/planner_model/coupling_limits.hpp"
#include "berth/planner_model/limit_groups.hpp"
#include "berth/planner_model/pools.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/report/progress.hpp"

namespace berth::pipeline {

/// The problem and its partition into shards. Equal on all ranks; each rank contributes its jobs.
class PlanningProblem {
 public:
  /// Collective.
  PlanningProblem(const comm::Communicator& comm, const model::InstanceView& instance,
                  const PlanOptions& options, Stages& stages, coordinator::JobRecords& jobs);

  /// The context of the stages. It refers to this object and to the arguments.
  [[nodiscard]] PlanningContext context(const comm::Communicator& comm, const PlanOptions& options,
                                        Stages& stages, report::ProgressTable& progress,
                                        const StopToken& stop) const;

 private:
  planner_model::Valuation unpriced_;
  planner_model::CouplingLimits limits_;
  planner_model::LimitGroups limit_groups_;
  planner_model::Pools pools_;
  partition::Shards shards_;
  partition::Ownership owners_;
  std::string digest_;
};

}  // namespace berth::pipeline
