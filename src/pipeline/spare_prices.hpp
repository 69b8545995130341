// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning_context.hpp"

#include "berth/coordinator/consensus.hpp"
#include "berth/model/certificate.hpp"

namespace berth::pipeline {

/// Prices of the whole cluster. Spare GPUs are not supplied where the price of a GPU without them
/// is below their penalty; elsewhere jobs would pay the penalty, and they are supplied like others.
/// Without spare GPUs one consensus, else one or two. Collective.
coordinator::Consensus consensus_beside_spare(const PlanningContext& context);

/// Turns prices of the machines into prices of spare GPUs as far as their penalty: jobs pay as much
/// as before, and the bound no longer pays for the spare GPUs. In a certificate of task prices the
/// prices of a GPU type change if all its pods have spare GPUs. @pre the scale is set
void add_spare_prices(model::Certificate& certificate, const model::InstanceView& instance,
                      const planner_model::Pools& pools);

}  // namespace berth::pipeline
