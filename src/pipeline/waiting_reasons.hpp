// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/comm/communicator.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/plan.hpp"
#include "berth/planner_model/coupling_limits.hpp"
#include "berth/planner_model/pools.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::pipeline {

/// What reasons follow from. Holds references.
struct WaitingContext {
  const comm::Communicator& comm;
  const planner_model::Valuation& valuation;  ///< values before the prices of limits
  const planner_model::CouplingLimits& limits;
  const planner_model::Pools& pools;
  std::span<const double> prices;  ///< by PoolId, value per GPU
};

/// The unplaced jobs of this rank, ascending, with the first of the reasons in docs/formats.md that
/// is true. Collective. O(jobs x types + distinct shapes x machines)
/// @param jobs       of this rank, ascending; over all ranks every planned job at most once
/// @param placement  of the jobs of this rank, ascending
std::vector<model::UnplacedJob> waiting(const WaitingContext& context, std::span<const JobId> jobs,
                                        const model::Placement& placement);

}  // namespace berth::pipeline
