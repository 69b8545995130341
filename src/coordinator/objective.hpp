// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/comm/communicator.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/shard.hpp"

namespace berth::coordinator {

/// Sum of the shards' values, in shard order, and of the spanning jobs' values. Equal bits on any
/// number of ranks. Collective.
double objective_of(const comm::Communicator& comm, const planner_model::Valuation& valuation,
                    std::span<const solver::Shard> mine, const model::Placement& spanning);

/// Sets the price of a GPU of each type, in all shards, to its least marginal price over the
/// shards. Collective.
void update_prices(const comm::Communicator& comm, const planner_model::Valuation& valuation,
                   std::span<solver::Shard> mine);

}  // namespace berth::coordinator
