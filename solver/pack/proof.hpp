// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "relaxation.hpp"

#include <span>
#include <vector>

#include "berth/model/placement.hpp"
#include "berth/solver/pack.hpp"

namespace berth::solver {

/// Price of a task by shape and GPU type: what its best job type there would keep after its own.
/// In units of the objective.
std::vector<ShapePrice> shape_prices(const Problem& problem, std::span<const double> type_price);

/// The bound that these prices prove, job by job (types may be buckets of unequal values):
/// machines' earnings + what each job keeps at best; required jobs that are placed count even when
/// they keep less than nothing. In units of the objective.
double bound_by_jobs(const Problem& problem, const model::Valuation& valuation,
                     const Relaxation& relaxation, const model::Placement& placed);

}  // namespace berth::solver
