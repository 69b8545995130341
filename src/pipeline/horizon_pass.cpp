// SPDX-License-Identifier: Apache-2.0
#include "horizon_pass.hpp"

#include <cmath>
#include <utility>

#include "berth/solver/horizon_plan.hpp"

namespace berth::pipeline {
namespace {

using coordinator::PlanInShards;

/// A round that gains no more than this fraction of the cost is idle (decision 108).
constexpr double kLeastGain = 1e-4;
constexpr int kIdleRounds = 2;
constexpr int kMostRounds = 6;    ///< of a pass
constexpr int kRoundKeys = 1000;  ///< keys of the draws of a pass

horizon::Plan plan_whole(const PassTask& task, int pass, const std::optional<PlanInShards>& from,
                         const StopToken& stop) {
  if (from) {
    return solver::improve_on_machines(task.problem, task.bound, from->plan,
                                       {.seed = static_cast<std::uint64_t>(pass - 1)}, stop);
  }
  const solver::HorizonPlanOptions options{.kept = task.kept, .moments = task.moments};
  const horizon::Plan pools = solver::plan_on_pools(task.problem, task.bound, options, stop);
  return solver::plan_on_machines(task.problem, task.bound, pools, options, stop);
}

}  // namespace

PassResult run_pass(const PassTask& task, int pass, const std::optional<PlanInShards>& from,
                    RoundState begun, const AfterRound& after_round, const StopToken& stop) {
  const auto whole = [&] {
    return PassResult{.found = {.plan = plan_whole(task, pass, from, stop), .homes = {}}};
  };
  if (task.shards <= 1) return whole();
  coordinator::HorizonRounds rounds(task.problem, task.bound, task.shards, task.kept,
                                    task.shard_ranks, stop, task.rounds);
  if (!from) {
    rounds.plan();
  } else if (!rounds.resume(*from)) {
    return whole();
  }
  bool fresh = from.has_value();
  PlanInShards found = from ? *from : rounds.state();
  RoundState at = begun;
  double cost = rounds.cost();
  if (!from && !stop.has_cut() && after_round) after_round(found, at, {});
  while (at.round < kMostRounds && at.idle < kIdleRounds && !stop.requested()) {
    if (!fresh && rounds.changes_with_plan() && !rounds.resume(found)) break;
    fresh = false;
    const auto report = rounds.step(kRoundKeys * pass + ++at.round);
    found = rounds.state();
    const double gain = cost - rounds.cost();
    at.idle = gain > kLeastGain * std::abs(cost) ? 0 : at.idle + 1;
    cost = rounds.cost();
    if (!stop.has_cut() && after_round) after_round(found, at, report);
  }
  found.plan = rounds.completed();
  return {.found = std::move(found), .cut = rounds.was_cut()};
}

}  // namespace berth::pipeline
