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

/// How much is searched; what finds nothing more ends sooner.
struct SearchEffort {
  int chains = 1000;  ///< ejection chains tried, >= 0
  int repartitions =
      10000;  ///< repartitions of machines tried, >= 0; fewer in rooms of more than 16,384 GPUs
};

/// Limits are counted, never timed: the plan does not depend on the machine's speed.
struct DiveOptions {
  double eps = 0.0007;        ///< smoothing, fraction of the largest value per GPU, > 0
  int passes = 4;             ///< re-solves per size class, >= 1
  int iterations = 15;        ///< of the minimiser per re-solve, >= 1
  double decided = 0.9;       ///< softmax weight from which a job is fixed, in (0.5, 1]
  double last_decided = 0.5;  ///< the same in the last pass of a size class
  SearchEffort effort = {};   ///< at the end
};

/// Pools and what a GPU of each costs. References only.
struct PricedPools {
  const planner_model::Pools& pools;
  std::span<const double> prices;  ///< by PoolId, per GPU
};

struct DiveResult {
  int passes = 0;
  int evaluations = 0;  ///< of the smoothed dual
  double value = 0.0;   ///< of those jobs that were placed
};

/// Rounds the market on the free room of the occupancy by diving (Berthold 2006): size classes
/// (powers of two of the job's GPUs) descending; in each, a few warm re-solves of the smoothed
/// dual, after which the jobs whose softmax weight is decided are placed on devices, the most
/// certain first; then unplaced jobs of positive value (and required ones, first) go into idle
/// room, the best value per GPU first, CPU-only jobs last; then `improve`.
///
/// @param start  prices to start from
/// @param jobs   ascending; unplaced jobs of the occupancy, no other is moved
/// @param stop   ends the dive and the search; a patient one the filling
/// @pre PETSc is up (PetscSession); main thread
DiveResult dive(Occupancy& occupancy, const PricedPools& start, std::span<const JobId> jobs,
                const DiveOptions& options = {}, const StopToken& stop = {});

/// Jobs with the same tasks exchange places and machines are repartitioned (a place for a large job
/// becomes several for small ones, or the other way round) while that gains; then ejection chains:
/// an unplaced job takes the place of cheaper ones, which move elsewhere or leave, whenever the
/// total value rises. Returns the value gained. Allowances of limits are kept, surcharges count.
/// @param pools  where to look first; their prices decide no acceptance
/// @param stop   asked between chains and between machines
double improve(Occupancy& occupancy, const PricedPools& pools, const SearchEffort& effort,
               const StopToken& stop = {});

/// Jobs with the same tasks exchange places among themselves and with unplaced ones, until no cycle
/// of moves gains (cyclic exchange: Thompson and Psaraftis 1993). Takes no room and frees none.
/// Returns the value gained. No more is used of any limit, by the jobs of each kind, than before.
/// @param unplaced, placed  ascending; edited
/// @param stop    asked between kinds of jobs
/// @param limits  null: there are none
double cyclic_exchange(const planner_model::Valuation& valuation, const planner_model::Pools& pools,
                       std::vector<JobId>& unplaced, model::Placement& placed,
                       const StopToken& stop = {},
                       const planner_model::CouplingLimits* limits = nullptr);

}  // namespace berth::solver
