// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon_pass.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/coordinator/horizon_rounds.hpp"
#include "berth/horizon/plan.hpp"
#include "berth/horizon/price_certificate.hpp"
#include "berth/horizon/problem.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/report/progress.hpp"
#include "berth/solver/horizon_bound.hpp"
#include "berth/solver/horizon_makespan.hpp"

namespace berth::pipeline {

struct HorizonSolution {
  horizon::Plan plan;
  horizon::PriceCertificate certificate;
  bool cut = false;  ///< a stop has cut the work of some rank short
};

/// What is planned, and what is bounded: the same but for promises.
struct HorizonTask {
  horizon::Problem planned;
  const horizon::Problem& bounded;
  horizon::Plan kept;
  horizon::Plan moments;  ///< starts of plans of single moments (horizon_moments.hpp); or empty
  solver::HorizonBound bound;          ///< of `bounded`
  solver::DualRanks* ranks = nullptr;  ///< as HorizonRequest
  coordinator::ShardRanks* shard_ranks = nullptr;
  std::size_t shards = 1;
  coordinator::HorizonRoundOptions rounds = {};
};

/// Where a run is after a pass: with the task it suffices to go on as if nothing had stopped it.
struct HorizonState {
  int pass = 0;                 ///< the last whole one; 0: rounds of the first
  bool required_first = false;  ///< required jobs are planned before all others
  horizon::Plan plan = {};
  solver::MakespanBound makespan = {};   ///< of that objective
  RoundState rounds = {};                ///< of the pass after `pass`
  std::vector<std::int32_t> homes = {};  ///< coordinator::PlanInShards::homes; or empty
};

/// Counted, not timed: a run of more passes begins with all passes of one of fewer.
struct HorizonEffort {
  int passes = 1;                         ///< > 0
  double gap = 0.0;                       ///< no further pass at this gap
  std::optional<HorizonState> from = {};  ///< goes on from here
  /// Called after each pass that nothing has cut, if given.
  std::function<void(const HorizonState&)> passed = {};
  /// The same after each round of a pass in shards.
  std::function<void(const HorizonState&)> after_round = {};
};

/// Plan on machines and its certificate; a line of progress after each pass, and after each round
/// of one in shards. Where required jobs
/// wait for others to gain a value, they are planned once more before all others.
/// @pre a PetscSession exists; main thread
HorizonSolution solve_horizon(HorizonTask task, const model::Horizon& horizon,
                              const HorizonEffort& effort, report::ProgressTable& progress,
                              const StopToken& stop);

}  // namespace berth::pipeline
