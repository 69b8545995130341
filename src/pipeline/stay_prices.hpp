// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prove.hpp"
#include "tighten.hpp"

#include "berth/model/instance.hpp"

namespace berth::pipeline {

/// The proof with prices at which jobs that stay leave less room in the contents of their machines
/// (certify/bound.hpp, "Running jobs"), if these lower its bound; otherwise the proof unchanged.
/// Pattern searches (Hooke and Jeeves 1961) over premiums for tasks by their number of GPUs and one
/// shift of all GPU prices, first at every job's best, then for sets of whole jobs: about 350
/// evaluations of the judge (decisions 105 and 117). Unchanged, too, where no running job may move
/// at a cost, or jobs and machines are too many.
/// @pre the instance has the records of all jobs
Proof price_stays(const model::InstanceView& instance, model::Objective objective, Proof proof,
                  const TightenGoal& goal);

}  // namespace berth::pipeline
