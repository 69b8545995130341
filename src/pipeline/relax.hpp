// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning_context.hpp"

#include <memory>

#include "berth/coordinator/consensus.hpp"
#include "berth/coordinator/decomposition.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/planner_model/coupling_limits.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/configuration_lp.hpp"
#include "berth/solver/run_context.hpp"

namespace berth::pipeline {

/// The prices of the relaxation, and the problem at these prices.
struct GlobalRelaxation {
  coordinator::Consensus consensus;
  /// Values less the prices of limits. Shards keep references to it.
  std::unique_ptr<const planner_model::Valuation> valuation;
  /// Null: no limits. Shards keep references to it.
  std::unique_ptr<const planner_model::CouplingLimits> limits;
  /// Of the whole cluster at these prices; empty where prices of GPUs are as good.
  solver::ConfigurationSolution configurations;
};

/// Consensus prices of pools and limits, and the configuration LP. Collective.
GlobalRelaxation relax(const PlanningContext& context, coordinator::JobRecords& records);

/// The problem at given prices, without the configuration LP.
GlobalRelaxation at_prices(const PlanningContext& context, coordinator::Consensus consensus);

/// The decomposed problem for the stages after the relaxation. Refers to both arguments.
coordinator::Decomposition decompose(const PlanningContext& context,
                                     const GlobalRelaxation& relaxation);

/// Live context of searches at these prices.
solver::RunContext run_context(const PlanningContext& context, const GlobalRelaxation& relaxation);

}  // namespace berth::pipeline
