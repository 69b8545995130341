// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon/cost_shares.hpp"
#include "horizon/gang_multiples.hpp"
#include "horizon/list_planner.hpp"
#include "horizon/smoothed_dual.hpp"

#include <optional>
#include <vector>

#include "berth/horizon/problem.hpp"
#include "berth/solver/horizon_bound.hpp"

namespace berth::solver::horizon_plan {

/// The curves of a bound, with what placements at these prices read.
struct CurvesOfBound {
  CurvesOfBound(const berth::horizon::Problem& problem, const HorizonBound& bound)
      : rented(bound.sizes.empty() && bound.multiples.empty()
                   ? std::optional<berth::horizon::Problem>()
                   : with_rents(problem, bound.sizes, bound.multiples)),
        planned(rented ? *rented : problem),
        shared(bound.shares.empty() ? std::optional<berth::horizon::Problem>()
                                    : with_shared_costs(planned, bound.shares)),
        priced(shared ? *shared : planned),
        curves(curves_of(planned, bound.grid, bound.ends)),
        curves_of_set(curves_of_pool_sets(problem)),
        prices{curves, curves_of_set} {}
  CurvesOfBound(const CurvesOfBound&) = delete;

  std::optional<berth::horizon::Problem> rented;
  const berth::horizon::Problem& planned;  ///< with the rents that the prices are of
  std::optional<berth::horizon::Problem> shared;
  const berth::horizon::Problem& priced;  ///< with the costs that the prices are of
  std::vector<PriceCurve> curves;
  std::vector<std::vector<std::int32_t>> curves_of_set;
  PricedTime prices;  ///< of the two above
};

}  // namespace berth::solver::horizon_plan
