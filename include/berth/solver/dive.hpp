// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/limit_usage.hpp"
#include "berth/planner_model/pools.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver {

/// Limits of the local search; it ends earlier when it finds no gain.
struct SearchEffort {
  int chains = 1000;  ///< ejection chains tried, >= 0; decision 13
  /// Repartitions of machines tried, >= 0; fewer with more than 16,384 GPUs. Chosen, not tuned.
  int repartitions = 10000;
};

/// Limits are counts, so the plan does not depend on the speed of the machine. Defaults but
/// `effort`: chosen, no measurement is recorded.
struct DiveOptions {
  double eps = 0.0007;        ///< smoothing, fraction of MarketShape::price_scale, > 0
  int passes = 4;             ///< solves per size class, >= 1
  int iterations = 15;        ///< of the minimiser per solve, >= 1
  double decided = 0.9;       ///< softmax weight from which a job is fixed, in (0.5, 1]
  double last_decided = 0.5;  ///< this weight in the last pass of a size class
  SearchEffort effort = {};   ///< of the local search after the dive
};
/// Pools and the price of a GPU in each. Holds references.
struct PricedPools {
  const planner_model::Pools& pools;
  std::span<const double> prices;  ///< by PoolId, per GPU
};

struct DiveResult {
  int passes = 0;
  int evaluations = 0;  ///< of the smoothed dual
  double value = 0.0;   ///< sum over the jobs that the dive placed
};

/// Rounds the market on the free room of the occupancy by diving (Berthold 2006). Size classes
/// (powers of two of the job's GPUs) are visited in descending order. Each pass of a class solves
/// the smoothed dual from the last prices and places jobs whose softmax weight reaches the
/// threshold, by descending weight. Then unplaced jobs of positive value, required ones first, fill
/// idle room by value per GPU, CPU-only jobs last; then the local search runs. If the fill alone,
/// from the first state, has more value (in a part of the cluster by more than 1 %), the local
/// search runs on that state instead.
///
/// @param start  first prices
/// @param jobs   ascending; unplaced jobs of the occupancy. Other jobs are not moved
/// @param stop   ends dive and search; filling ends only by a patient stop
/// @pre a PetscSession exists; main thread
DiveResult dive(Occupancy& occupancy, const PricedPools& start, std::span<const JobId> jobs,
                const DiveOptions& options = {}, const StopToken& stop = {});

/// Local search. While it gains, jobs with equal task profiles exchange places and machines are
/// repartitioned (a place for a large job becomes several for small ones, or the reverse). Then
/// ejection chains: an unplaced job takes the place of cheaper jobs, which move or become unplaced,
/// if the total value rises. Last, running jobs return to their present places where that gains.
/// Keeps allowances of limits; surcharges count. Returns the value
/// gained.
/// @param pools  prices order the candidates; acceptance does not depend on them
/// @param stop   checked between chains and between machines
double improve(Occupancy& occupancy, const PricedPools& pools, const SearchEffort& effort,
               const StopToken& stop = {});

/// Jobs with equal task profiles exchange places among themselves and with unplaced jobs until no
/// cycle of moves gains (cyclic exchange: Thompson and Psaraftis 1993). The used room does not
/// change, and the jobs of each profile use no more of any limit than before. Returns the value
/// gained.
/// @param unplaced, placed  ascending; edited
/// @param stop    checked between task profiles
/// @param limits  null: no limits
double cyclic_exchange(const planner_model::Valuation& valuation, const planner_model::Pools& pools,
                       std::vector<JobId>& unplaced, model::Placement& placed,
                       const StopToken& stop = {},
                       const planner_model::CouplingLimits* limits = nullptr);

}  // namespace berth::solver
