// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/comm/communicator.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/shard.hpp"

namespace berth::coordinator {

/// Sum of the shards' values in shard order, and of what lies over several: the same on every
/// number of ranks. Collective.
double objective_of(const comm::Communicator& comm, const planner_model::Valuation& valuation,
                    std::span<const solver::Shard> mine, const model::Placement& spanning);

/// A GPU of a type costs every shard what it costs where it is cheapest. Collective.
void update_prices(const comm::Communicator& comm, const planner_model::Valuation& valuation,
                   std::span<solver::Shard> mine);

}  // namespace berth::coordinator
