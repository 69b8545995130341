// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon/smoothed_dual.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/base/infinity.hpp"
#include "berth/horizon/dependency_graph.hpp"
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
  std::span<const PriceCurve> curves;  ///< by CurveId, then of quotas and budgets
  std::span<const std::vector<std::int32_t>> curves_of_set;
};

/// List scheduling on a timeline of pools or of machines.
class ListPlanner {
 public:
  ListPlanner(const berth::horizon::Problem& problem, berth::horizon::Timeline& timeline);

  /// Places the job by the rule. A job that may be left out waits when its cost + rent would exceed
  /// what the jobs that wait for it are worth; one that cannot run waits, and so does one that
  /// waits for a job without a place.
  void place(JobId job, PlaceRule rule, const PricedTime& prices);
  /// Places jobs as `plan` does, by start, where what they take is free.
  void keep(const berth::horizon::Plan& plan);
  /// Places the job anew where its cost is least, if that is less than now. Without rent, so that
  /// the last pass uses the room that is left. Returns the gain, >= 0.
  double shift_left(JobId job);

  [[nodiscard]] berth::horizon::PlanBuilder& built() { return built_; }
  [[nodiscard]] const berth::horizon::DependencyGraph& dependencies() const {
    return dependencies_;
  }
  /// False when a placed job waits for this one.
  [[nodiscard]] bool may_wait(JobId job) const;

 private:
  [[nodiscard]] Seconds suited_start(const berth::horizon::Job& job,
                                     const berth::horizon::JobStart& start,
                                     const PricedTime& prices) const;
  struct Place {
    berth::horizon::JobStart start;
    double cost = kInfinity;  ///< of the completion, with the rent
  };
  /// The job between the ends and starts of the placed jobs that it waits for and that wait for it;
  /// empty when one that it waits for has no place.
  [[nodiscard]] std::optional<berth::horizon::Job> between_neighbours(JobId job) const;
  Place earliest_place(const berth::horizon::Job& job, const PricedTime* prices, double limit);
  Place priced_place(const berth::horizon::Job& job, const PricedTime& prices, Place best);
  void improve(const berth::horizon::Job& job, std::int32_t option, PoolId pool, Seconds from,
               const PricedTime* prices, Place& best);

  const berth::horizon::Problem& problem_;
  berth::horizon::PlanBuilder built_;
  berth::horizon::DependencyGraph dependencies_;
  std::vector<double> support_;  ///< by JobId: what the jobs that wait for it are worth; or empty
  std::vector<Candidate> candidates_;
};

}  // namespace berth::solver::horizon_plan
