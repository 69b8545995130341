// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "berth/base/stop.hpp"
#include "berth/coordinator/horizon_rounds.hpp"
#include "berth/horizon/plan.hpp"
#include "berth/horizon/problem.hpp"
#include "berth/solver/horizon_bound.hpp"

namespace berth::pipeline {

/// Where a pass in shards is after a round.
struct RoundState {
  int round = 0;  ///< the last whole one of the pass that is under way; 0: none
  int idle = 0;   ///< rounds without gain, the last ones
};

/// What is planned by passes.
struct PassTask {
  const horizon::Problem& problem;
  const solver::HorizonBound& bound;
  const horizon::Plan* kept = nullptr;             ///< HorizonPlanOptions::kept
  const horizon::Plan* moments = nullptr;          ///< HorizonPlanOptions::moments; not of shards
  std::size_t shards = 1;                          ///< 1: one search over the whole cluster
  coordinator::ShardRanks* shard_ranks = nullptr;  ///< null: this rank alone
  coordinator::HorizonRoundOptions rounds = {};
};

struct PassResult {
  coordinator::PlanInShards found;
  bool cut = false;  ///< a stop has cut the work of some rank short
};

/// Called after each round of a pass that nothing has cut.
using AfterRound = std::function<void(const coordinator::PlanInShards& found, const RoundState& at,
                                      const coordinator::HorizonRoundReport& report)>;

/// Pass number `pass` > 0: without `from` a plan is made; else the search goes on from there, by
/// draws of this pass. In shards it is rounds until two gain next to nothing, then what only the
/// whole cluster can hold. Never dearer than `from`.
/// @param begun  rounds of this pass that `from` has
PassResult run_pass(const PassTask& task, int pass,
                    const std::optional<coordinator::PlanInShards>& from, RoundState begun,
                    const AfterRound& after_round, const StopToken& stop);

}  // namespace berth::pipeline
