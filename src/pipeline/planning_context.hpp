// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stages.hpp"

#include <string>

#include "berth/base/stop.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/partition/partition.hpp"
#include "berth/pipeline/plan_cluster.hpp"
#include "berth/planner_model/coupling_limits.hpp"
#include "berth/planner_model/limit_groups.hpp"
#include "berth/planner_model/pools.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/report/progress.hpp"

namespace berth::pipeline {

/// Inputs that all stages share. Holds references.
struct PlanningContext {
  const comm::Communicator& comm;
  const planner_model::Valuation& unpriced;  ///< values without prices of limits
  const planner_model::CouplingLimits& limits;
  const planner_model::LimitGroups& limit_groups;
  const planner_model::Pools& pools;
  const partition::Shards& shards;
  const partition::Ownership& owners;
  const PlanOptions& options;
  Stages& stages;
  report::ProgressTable& progress;
  StopToken stop;             ///< ends long stages early
  const std::string& digest;  ///< of the instance; empty without checkpoints
};

}  // namespace berth::pipeline
