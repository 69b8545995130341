// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/planner_model/pools.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/dive.hpp"

namespace berth::solver {

struct HomeRackOptions {
  int evaluations = 100;  ///< most evaluations of the bound, >= 1. Chosen, not tuned.
  int trial = 10;         ///< evaluations without a bound below the known one that end it
  /// Of all knapsacks in all evaluations, about. With more, jobs are divisible but for the last
  /// evaluation. Chosen, not tuned.
  double cells = 1e8;
  double step = 1.0;    ///< first step as a share of Polyak's, in (0, 2)
  int patience = 5;     ///< evaluations without progress before the step shrinks
  double shrink = 0.5;  ///< factor of the step then, (0, 1)
};

/// What is known of the optimum.
struct KnownRange {
  double objective = 0.0;  ///< of the best plan
  double bound = 0.0;
};

/// A job in its home rack, or elsewhere.
struct HomeChoice {
  JobId job;
  GpuTypeId type;       ///< of the machines there
  bool at_home = true;  ///< in its home rack
  PodId pod = {};       ///< of a job elsewhere; invalid: any pod
};

struct HomeRackSolution {
  /// By PoolId; empty where one evaluation takes more than half of the cells, and after a
  /// trial without success.
  std::vector<double> prices;
  std::vector<HomeChoice> at_home = {};  ///< the jobs in the knapsacks at these prices
  /// Jobs selected for what these leave of the pods, each where it gains most at these prices.
  std::vector<HomeChoice> elsewhere = {};
};

/// Prices of a GPU by pool that lower the bound which chooses whole jobs within home racks
/// (Lagrangian relaxation: Geoffrion 1974):
///
///   min over rho >= 0 of  sum_p rho_p gpus_p + sum_j away_j + sum_r K_r
///
/// away_j is the largest of 0 and the job's values outside its home rack, less the cheapest GPUs
/// there; K_r is a 0/1 knapsack of the jobs whose home rack r is, in its GPUs, each with its value
/// there less away_j and less rho. Jobs from elsewhere take the cheapest rack of a pod, so pools of
/// one GPU type in one pod have one price. Subgradient steps of Polyak's length towards
/// the best plan.
///
/// @param start  pools by rack; the steps start at the least price of a type in a pod
/// @param jobs   that ask for GPUs
/// Deterministic.
HomeRackSolution home_rack_prices(const planner_model::Valuation& valuation,
                                  const PricedPools& start, std::span<const JobId> jobs,
                                  const KnownRange& known, const HomeRackOptions& options = {},
                                  const StopToken& stop = {});

}  // namespace berth::solver
