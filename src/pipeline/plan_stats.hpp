// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "coordinate.hpp"
#include "planning_context.hpp"
#include "round.hpp"

#include <map>
#include <string>

#include "berth/model/certificate.hpp"

namespace berth::pipeline {

/// Counts of the run for the plan file. @param tree  of the plan's certificate. Collective.
std::map<std::string, double> plan_stats(const PlanningContext& context,
                                         const LocalSolution& solution,
                                         const GlobalPlacement& placed,
                                         const model::BoundTree& tree);

}  // namespace berth::pipeline
