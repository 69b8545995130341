// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon_problem.hpp"

#include <vector>

#include "berth/base/stop.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"

namespace berth::pipeline {

using FactorsOfShapes = std::vector<model::PriceCurves::ShapeFactor>;

/// GPUs that tasks of each shape should pay for: prices of the configuration LP over the mix of
/// jobs that is planned at a time, in which a job of duration d counts for d / horizon and is worth
/// its gain x horizon / d. A type's machines without closures are worth their GPUs. Empty where the
/// contents of machines cannot bind, or the LP is skipped (configuration_lp.hpp).
/// @pre a PetscSession exists
FactorsOfShapes shape_factors(const model::InstanceView& instance, const model::Horizon& horizon,
                              const HorizonProblem& translated, const StopToken& stop);

/// The problem with rents and worths by factors; the worths are the judge's.
horizon::Problem with_factors(const model::InstanceView& instance, const model::Horizon& horizon,
                              const HorizonProblem& translated, const FactorsOfShapes& factors);

}  // namespace berth::pipeline
