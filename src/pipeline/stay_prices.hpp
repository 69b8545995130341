// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prove.hpp"
#include "tighten.hpp"

#include "berth/model/instance.hpp"

namespace berth::pipeline {

/// True when some running job of whole GPUs may move, and there are few enough jobs and machines
/// for `price_stays`.
bool stays_matter(const model::InstanceView& instance);

/// The proof with prices at which jobs that stay leave less room in the contents of their machines
/// (certify/bound.hpp, "Running jobs"), if these lower its bound; otherwise the proof unchanged.
/// Pattern searches (Hooke and Jeeves 1961) over premiums for tasks by their number of GPUs and one
/// shift of all GPU prices, first at every job's best, then for sets of whole jobs: about 350
/// evaluations of the judge (decisions 105 and 117).
/// @pre the instance has the records of all jobs
Proof price_stays(const model::InstanceView& instance, model::Objective objective, Proof proof,
                  const TightenGoal& goal);

}  // namespace berth::pipeline
