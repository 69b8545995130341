// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon/list_planner.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/horizon/timeline.hpp"
#include "berth/solver/horizon_plan.hpp"

namespace berth::solver::horizon_plan {

/// A list of jobs and the rule that places them.
struct JobList {
  std::vector<JobId> order;
  PlaceRule rule = PlaceRule::earliest;
  const berth::horizon::Plan* first = nullptr;  ///< starts that come before the list; null: none
};

/// The plan that a list gives, on a timeline of its own.
struct ListPlan {
  JobList list;
  std::unique_ptr<berth::horizon::Timeline> timeline;
  std::unique_ptr<ListPlanner> planner;
  std::int64_t missing = 0;  ///< required jobs without a place; fewer come before any cost
  double cost = kInfinity;
};

/// How a plan is improved after the lists.
struct Reinsertions {
  std::int64_t tries = 0;
  double threshold = 0.0;  ///< of ReinsertionOptions, in mean costs of a job
};

using TimelineFactory = std::function<std::unique_ptr<berth::horizon::Timeline>()>;

/// Jobs by ascending keys (by JobId), then by id.
std::vector<JobId> order_by(const std::vector<double>& keys);

/// Searches the list whose plan costs least. Lists are tried in parallel and compared in order.
class ListSearch {
 public:
  /// @param priced  the problem with the costs that the prices are of: orders are by these
  /// @param priced, prices, grid, options  must outlive the search
  ListSearch(const berth::horizon::Problem& problem, const berth::horizon::Problem& priced,
             const PricedTime& prices, const PriceGrid& grid, const HorizonPlanOptions& options,
             const StopToken& stop, TimelineFactory make_timeline);

  /// The list that leaves fewest required jobs, then the cheapest one, shifted left; then lists
  /// with the jobs of large regret moved forward, while they gain; then reinsertions and a left
  /// shift. Nothing is searched on at a cost of `bound`. A stop ends all but the first list: a
  /// stopped search has a plan.
  berth::horizon::Plan run(std::vector<JobList> lists, const Reinsertions& reinsertions,
                           double bound);
  /// Reinsertions and a left shift from where HorizonPlanOptions::kept has its jobs.
  berth::horizon::Plan resume(const Reinsertions& reinsertions, double bound);

 private:
  void insert_anew(ListPlan& plan, const Reinsertions& reinsertions, double bound);
  void place_jobs(ListPlan& plan, const StopToken& stop);
  ListPlan cheapest(std::vector<JobList> lists, const StopToken& first);
  [[nodiscard]] std::vector<JobList> reordered(const ListPlan& from) const;
  void sum_up(ListPlan& plan) const;  ///< its missing jobs and its cost
  void shift(ListPlan& plan);

  const berth::horizon::Problem& problem_;
  const berth::horizon::Problem& priced_;
  const PricedTime& prices_;
  const PriceGrid& grid_;
  const HorizonPlanOptions& options_;
  StopToken stop_;
  TimelineFactory make_timeline_;
};

}  // namespace berth::solver::horizon_plan
