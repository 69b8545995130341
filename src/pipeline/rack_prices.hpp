// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prove.hpp"
#include "tighten.hpp"

#include "berth/planner_model/value.hpp"

namespace berth::pipeline {

/// True when some racks or pods may be scarce (`racks_differ`), and there are few enough jobs,
/// machines and racks for `price_racks`. Equal on all ranks.
bool scarce_racks_matter(const model::InstanceView& instance);

/// The proof with a price of the racks that hold whole gangs where few do (`scarce_racks`), if it
/// lowers the bound; otherwise the proof unchanged. Other prices know GPU types and tasks, so by
/// them every gang finds a rack. A pattern search over one premium a set of racks: about 60
/// evaluations of the judge.
/// @pre the instance has the records of all jobs
Proof price_racks(const planner_model::Valuation& valuation, Proof proof, const TightenGoal& goal);

}  // namespace berth::pipeline
