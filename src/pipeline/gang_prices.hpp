// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prove.hpp"
#include "tighten.hpp"

#include "berth/model/instance.hpp"
#include "berth/model/objective.hpp"

namespace berth::pipeline {

/// Lowers the bound by prices of gangs in racks (Certificate::GangPrice): racks are then filled
/// with whole gangs. Nothing without gangs of whole machines, in large instances (`few_records`),
/// or where jobs have prices of their own. Counted work: at most 120 evaluations of the bound.
Proof price_gangs(const model::InstanceView& instance, model::Objective objective, Proof proof,
                  const TightenGoal& goal);

}  // namespace berth::pipeline
