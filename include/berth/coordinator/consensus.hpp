// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "berth/comm/communicator.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/planner_model/pools.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/market.hpp"

namespace berth::coordinator {

/// Prices for the whole cluster, the same bits on every rank.
struct Consensus {
  std::vector<double> prices;  ///< by PoolId, value per GPU
  std::vector<double> limits;  ///< those of `planner_model::LimitGroups`: value per GPU of each
                               ///< quota, then per unit of each group
  double bound = 0.0;          ///< exact dual value at these prices; `certify` has the last word
  int evaluations = 0;
};

/// The jobs that each rank bids for: those of one kind come together, so that those that bid as one
/// do so on any number of ranks. Of a part of a workload, those it has.
JobLists jobs_by_evaluator(const planner_model::Valuation& valuation, std::size_t ranks);

/// Minimises the dual of the whole market. The jobs are distributed to the ranks, kind by kind: a
/// rank builds the market of its own jobs (`jobs_by_evaluator`) and needs no others. Rank 0 alone
/// runs the minimiser; for an evaluation it broadcasts (eps, prices), every rank sums what its jobs
/// bid, by price and in fixed point, one reduction brings the sums to rank 0. So no two minimisers
/// can drift apart, and the sums are the same for any number of ranks.
///
/// Per evaluation: one broadcast and one reduction of 8 bytes a price and 8 more.
Consensus consensus(const comm::Communicator& comm, const planner_model::Valuation& valuation,
                    const planner_model::Pools& pools, const planner_model::LimitGroups& limits,
                    const solver::PriceOptions& options = {}, const StopToken& stop = {});

}  // namespace berth::coordinator
