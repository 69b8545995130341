// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon/smoothed_dual.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/infinity.hpp"
#include "berth/horizon/timeline.hpp"

namespace berth::solver::horizon_plan {

/// How a job's place is chosen.
enum class PlaceRule : std::uint8_t {
  cheapest,  ///< each pool's earliest start; the pool by cost alone
  earliest,  ///< each pool's earliest start; the pool by cost + rent
  priced,    ///< the feasible start with the least cost + rent on any pool
};

/// Prices of one grid with the tables that placements read. A view.
struct PricedTime {
  std::span<const PriceCurve> curves;  ///< by CurveId
  std::span<const std::vector<std::int32_t>> curves_of_set;
};

/// List scheduling on a timeline of pools or of machines.
class ListPlanner {
 public:
  ListPlanner(const berth::horizon::Problem& problem, berth::horizon::Timeline& timeline)
      : problem_(problem), built_(problem, timeline) {}

  /// Places the job by the rule. A job that may be left out waits when its
  /// cost + rent would exceed 0; one that cannot run waits.
  void place(JobId job, PlaceRule rule, const PricedTime& prices);
  /// Places the job anew where its cost is least, if that is less than now. Without rent, so that
  /// the last pass uses the room that is left. Returns the gain, >= 0.
  double shift_left(JobId job);

  [[nodiscard]] berth::horizon::PlanBuilder& built() { return built_; }

 private:
  struct Place {
    berth::horizon::JobStart start;
    double cost = kInfinity;  ///< of the completion, with the rent
  };
  Place earliest_place(const berth::horizon::Job& job, const PricedTime* prices, double limit);
  Place priced_place(const berth::horizon::Job& job, const PricedTime& prices, Place best);
  void improve(const berth::horizon::Job& job, std::int32_t option, PoolId pool, Seconds from,
               const PriceCurve* curve, Place& best);

  const berth::horizon::Problem& problem_;
  berth::horizon::PlanBuilder built_;
  std::vector<Candidate> candidates_;
};

}  // namespace berth::solver::horizon_plan
