// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stages.hpp"

#include <memory>
#include <string>

#include "berth/coordinator/checkpoint.hpp"
#include "berth/coordinator/consensus.hpp"
#include "berth/coordinator/decomposition.hpp"
#include "berth/coordinator/plan_shards.hpp"
#include "berth/model/limit_usage.hpp"
#include "berth/pipeline/checkpoint.hpp"
#include "berth/pipeline/plan_cluster.hpp"

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
  StopToken stop;             ///< cuts into every long stage
  const std::string& digest;  ///< of the instance; empty without checkpoints
};

/// Prices, shards and local plans, from which the rounds start.
struct LocalSolution {
  coordinator::Consensus consensus;
  /// Limits cost what their prices say. The shards refer to it.
  std::unique_ptr<const model::Valuation> valuation;
  std::unique_ptr<const model::CouplingLimits>
      limits;  ///< null: there are none; the shards refer to it
  coordinator::LocalPlans local;
  coordinator::RoundState rounds;
};

/// What searches get beside their options. Collective ones add what they share.
solver::RunContext run_context(const PlanningContext& context, const model::CouplingLimits* limits);

/// The problem as the stages after the consensus see it. Refers to both.
coordinator::Decomposition decompose(const PlanningContext& context, const LocalSolution& solution);

/// Consensus prices, jobs to shards, local plans. Collective.
LocalSolution plan_locally(const PlanningContext& context, Stages& stages,
                           report::ProgressTable& progress);

/// Reads and hands out the checkpoint that the options name instead. Collective.
LocalSolution resume(const PlanningContext& context, Stages& stages);

/// Writes one checkpoint after the other. A call is collective: rank 0 writes what some shards hold
/// before it hears of the next. What goes wrong is thrown on all ranks.
class CheckpointWriter {
 public:
  CheckpointWriter(const PlanningContext& context, const LocalSolution& solution);
  void operator()(const coordinator::RoundState& rounds, std::span<const solver::Shard> mine);

 private:
  const comm::Communicator& comm_;
  std::string path_;
  Checkpoint checkpoint_;
};

}  // namespace berth::pipeline
