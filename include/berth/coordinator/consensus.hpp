// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/comm/communicator.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/planner_model/pools.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/market.hpp"

namespace berth::coordinator {

/// Prices for the whole cluster, bit for bit equal on all ranks.
struct Consensus {
  std::vector<double> prices;  ///< by PoolId, value per GPU
  std::vector<double> limits;  ///< as `planner_model::LimitGroups::prices`: value per GPU of each
                               ///< quota, then per unit of each group
  double bound = 0.0;          ///< exact dual value at these prices; `certify` computes its own
  int evaluations = 0;
};

template <class Archive>
void describe(Archive& archive, Consensus& c) {
  archive(c.prices, c.limits, c.bound, c.evaluations);
}

/// What has a price. The references outlive the call.
struct MarketSupply {
  const planner_model::Pools& pools;
  const planner_model::LimitGroups& limits;
  std::span<const std::int64_t> kept_free = {};  ///< by PoolId: GPU thousandths not supplied, or
                                                 ///< empty: none
};

/// The jobs that each rank evaluates. Jobs of one kind are on one rank, so that equal jobs are
/// merged on any number of ranks. For a part of a workload: of its jobs.
JobLists jobs_by_evaluator(const planner_model::Valuation& valuation, std::size_t ranks);

/// Minimises the dual of the whole market (dual decomposition: Boyd et al. 2011). Jobs are
/// distributed to the ranks by kind, and each rank builds the market of its jobs
/// (`jobs_by_evaluator`). Rank 0 runs the minimiser: for each evaluation it broadcasts (eps,
/// prices), every rank sums the demand of its jobs by price in fixed point, and one reduction adds
/// the sums on rank 0. The result does not depend on the number of ranks.
///
/// Per evaluation: one broadcast and one reduction of 8 bytes per price plus 8 bytes.
Consensus consensus(const comm::Communicator& comm, const planner_model::Valuation& valuation,
                    const MarketSupply& supply, const solver::PriceOptions& options = {},
                    const StopToken& stop = {});

}  // namespace berth::coordinator
