// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::solver {

struct JobPriceOptions {
  int evaluations = 600;  ///< of the dual, >= 1; counted, never timed
  double step = 1.0;      ///< first step, as a share of Polyak's, (0, 2)
  double memory = 0.7;    ///< of the last direction, [0, 1)
  int patience = 15;      ///< evaluations without progress before the step shrinks
  double shrink = 0.7;    ///< (0, 1)
};

/// How far a bound is to be lowered.
struct BoundTarget {
  double slack = 0.0;   ///< how far the bound at the first prices is above the best plan known, > 0
  StopToken stop = {};  ///< asked after every evaluation
};

struct JobPriceResult {
  std::vector<double> prices;  ///< by position in `jobs`, >= 0: those of the lowest bound seen
  double start = 0.0;          ///< bound of the listed jobs at the prices to start from
  double bound = 0.0;          ///< the lowest
  int evaluations = 0;
};

/// Jobs of whole GPUs: those that can have a price of their own. Ascending.
std::vector<JobId> whole_gpu_jobs(const model::Instance& instance);

/// Lowers the bound that comes from one price y_j per job (Lagrangian relaxation, Geoffrion 1974)
/// instead of prices per GPU:
///
///   min over y >= 0 of  sum_j y_j + sum_types most(contents of all racks and pods of the type)
///
/// where a rack is filled by 0/1 choices of whole jobs, each worth u - y_j there, so that racks
/// stay integral; gangs wider than a rack, or than a pod, take GPUs of their pod or of the cluster
/// in the same recursion (max-plus products of the parts' knapsacks). A job may be chosen in
/// several places: that is what the prices are for. Subgradient steps with memory; the step is
/// Polyak's towards `start - target.slack`.
///
/// @param jobs    ascending, all countable
/// @param start   price of each, >= 0; e.g. its profit at the consensus prices
/// @param rack_prices   by RackId: price per GPU for jobs without a price of their own, or empty
/// @param target  the next step aims at 1 % of the bound at most
/// Deterministic for any number of threads. An evaluation costs O(jobs x types + racks x (GPUs of a
/// rack) x log) and, with gangs wider than a rack, (GPUs of a type)^2.
JobPriceResult minimise_job_prices(const planner_model::Valuation& valuation,
                                   std::span<const JobId> jobs, std::span<const double> start,
                                   std::span<const double> rack_prices, const BoundTarget& target,
                                   const JobPriceOptions& options = {});

}  // namespace berth::solver
