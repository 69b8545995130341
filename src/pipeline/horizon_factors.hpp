// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon_problem.hpp"

#include <vector>

#include "berth/base/stop.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"
#include "berth/solver/horizon_bound.hpp"

namespace berth::pipeline {

using FactorsOfShapes = std::vector<model::PriceCurves::ShapeFactor>;

/// A problem with its bound, by GPUs or by factors of shapes, whichever proves more.
struct BoundedProblem {
  horizon::Problem problem;
  solver::HorizonBound bound;  ///< makespan: its `bound` alone
  FactorsOfShapes factors;     ///< empty: by GPUs
};

/// Factors are GPUs that tasks of each shape should pay for: prices of the configuration LP over
/// the mix of jobs that is planned at a time (horizon_mix.hpp). A type's machines without closures
/// are worth their GPUs. None where the contents of machines cannot bind, or the LP is skipped
/// (configuration_lp.hpp). Rents by factors are the translated problem's with the judge's worths.
/// @param ranks  that evaluate parts of the dual, or null
/// @pre a PetscSession exists
BoundedProblem bound_with_contents(const model::InstanceView& instance,
                                   const model::Horizon& horizon, const HorizonProblem& translated,
                                   solver::DualRanks* ranks, const StopToken& stop);

}  // namespace berth::pipeline
