// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::solver {

struct JobPriceOptions {
  int evaluations = 600;  ///< most evaluations of the dual, >= 1: decision 3
  double step = 1.0;      ///< first step as a share of Polyak's, in (0, 2); chosen, not tuned
  double memory = 0.7;    ///< weight of the last direction, [0, 1); chosen, not tuned
  int patience = 15;      ///< evaluations without progress before the step shrinks; not tuned
  double shrink = 0.7;    ///< factor of the step then, (0, 1); chosen, not tuned
  /// no evaluation begins after so many cells of tables, > 0: the cost, as a count
  std::int64_t most_cells = std::numeric_limits<std::int64_t>::max();
};

/// Target of a method that lowers a bound.
struct BoundTarget {
  double slack = 0.0;   ///< bound at the first prices less value of the best known plan, > 0
  StopToken stop = {};  ///< checked after every evaluation
};

struct JobPriceResult {
  std::vector<double> prices;  ///< by position in `jobs`, >= 0; of the lowest bound seen
  double start = 0.0;          ///< bound of the listed jobs at the first prices
  double bound = 0.0;          ///< lowest bound seen
  int evaluations = 0;
};

/// Jobs of whole GPUs, which can have job prices. Ascending.
std::vector<JobId> whole_gpu_jobs(const model::InstanceView& instance);

/// Greatest common divisor of the GPUs of these jobs of whole GPUs; 1 without jobs.
std::int32_t common_divisor(const model::WorkloadView& workload, std::span<const JobId> jobs);

/// Lowers the bound given by one price y_j per job (Lagrangian relaxation, Geoffrion 1974) in place
/// of prices per GPU:
///
///   min over y >= 0 of  sum_j y_j + sum_types F_t(u - y)
///
/// where F_t is the largest profit in the racks and pods of GPU type t: each rack is a 0/1 knapsack
/// of whole jobs of profit u - y_j, so racks stay integral; gangs wider than a rack or a pod use
/// GPUs of their pod or of the cluster in the same recursion (max-plus products of the parts'
/// knapsacks). The constraint "each job once at most" is relaxed. Deflected subgradient steps
/// (Camerini, Fratta and Maffioli 1975) of Polyak's length towards `start - target.slack`.
///
/// @param jobs    ascending, all countable
/// @param start   first prices, >= 0, such as profits at the consensus prices
/// @param rack_prices   by RackId: price per GPU for jobs without job prices, or empty
/// @param target  a step aims at most 1 % below the bound
/// Deterministic for any number of threads. An evaluation costs O(jobs x types + racks x (GPUs of a
/// rack) x log) and, with gangs wider than a rack, (GPUs of a type)^2; GPUs are counted in units of
/// the jobs' common divisor where `rack_prices` is empty.
JobPriceResult minimise_job_prices(const planner_model::Valuation& valuation,
                                   std::span<const JobId> jobs, std::span<const double> start,
                                   std::span<const double> rack_prices, const BoundTarget& target,
                                   const JobPriceOptions& options = {});

}  // namespace berth::solver
