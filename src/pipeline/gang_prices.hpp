// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prove.hpp"
#include "tighten.hpp"

#include "berth/model/instance.hpp"
#include "berth/model/objective.hpp"

namespace berth::pipeline {

/// Lowers the bound by prices of gangs in racks (Certificate::GangPrice), if it is more than 0.1 %
/// above the plan: racks are then filled with whole gangs. Nothing without gangs of whole machines
/// to which a rack may matter, in large instances, or where jobs have prices of their own. Counted
/// work: at most 120 evaluations of the bound.
Proof price_gangs(const model::InstanceView& instance, model::Objective objective, Proof proof,
                  const TightenGoal& goal);

}  // namespace berth::pipeline
