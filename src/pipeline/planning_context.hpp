// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stages.hpp"

#include <string>

#include "berth/base/stop.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/model/coupling_limits.hpp"
#include "berth/model/limit_groups.hpp"
#include "berth/model/pools.hpp"
#include "berth/model/value.hpp"
#include "berth/partition/partition.hpp"
#include "berth/pipeline/plan_cluster.hpp"
#include "berth/report/progress.hpp"

namespace berth::pipeline {

/// Inputs that all stages share; references only.
struct PlanningContext {
  const comm::Communicator& comm;
  const model::Valuation& unpriced;  ///< values without prices of limits
  const model::CouplingLimits& limits;
  const model::LimitGroups& limit_groups;
  const model::Pools& pools;
  const partition::Shards& shards;
  const partition::Ownership& owners;
  const PlanOptions& options;
  coordinator::JobRecords& records;
  Stages& stages;
  report::ProgressTable& progress;
  StopToken stop;             ///< cuts into every long stage
  const std::string& digest;  ///< of the instance; empty without checkpoints
};

}  // namespace berth::pipeline
