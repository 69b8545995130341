// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "distributed_judge.hpp"
#include "planning_context.hpp"
#include "prove.hpp"
#include "tighten.hpp"

#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"
#include "berth/solver/home_rack_prices.hpp"

namespace berth::pipeline {

/// The certificate with the choice of whole jobs: the least price of a GPU thousandth, over pools
/// and over shapes, becomes the price of the cluster's GPUs, and the others keep the rest.
/// @pre no job has a price of its own
model::Certificate with_whole_jobs(const model::InstanceView& instance,
                                   model::Certificate certificate);

/// A proof, and what its choice of whole jobs says about plans.
struct ChoiceProof {
  Proof proof;
  bool usable = false;     ///< `selected` is worth a plan; known to all ranks
  bool promising = false;  ///< whole jobs earn so much less than divisible ones that prices mislead
  /// by the choice, if it is promising or exact for few jobs; ascending; on rank 0
  std::vector<JobId> selected = {};
};

/// The proof, or a lower one by its prices with the choice of whole jobs. Where the choice is not
/// exact, the cluster and the quotas have the prices that select_jobs finds for it. Collective.
/// @param objective  of the best known plan
ChoiceProof choose_whole_jobs(const DistributedJudge& judge, const PlanningContext& context,
                              double objective, Proof proof);

/// The jobs that the bound chooses at these prices, as a set of whole jobs; ascending. On one rank,
/// which has the records of all jobs. @pre no job has a price of its own
std::vector<JobId> chosen_jobs(const PlanningContext& context, model::Certificate certificate);

/// A proof, and what its choice of jobs within home racks says about plans.
struct HomeProof {
  Proof proof;
  solver::HomeRackSolution found = {};  ///< no prices: no plan should begin with it
};

/// The proof, or a lower one that chooses whole jobs within home racks, at prices by
/// solver::home_rack_prices. On rank 0 alone, which has the records of all jobs.
/// @param prices  by PoolId, of the consensus
HomeProof choose_at_home(const PlanningContext& context, std::span<const double> prices,
                         const TightenGoal& goal, Proof proof);

}  // namespace berth::pipeline
