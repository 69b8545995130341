// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/coordinator/checkpoint.hpp"
#include "berth/coordinator/limit_allocation.hpp"
#include "berth/coordinator/regroup.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/plan.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/run_context.hpp"
#include "berth/solver/shard.hpp"
#include "berth/strads/schedule.hpp"

namespace berth::coordinator {

struct RoundOptions {
  int rounds = 12;                         ///< of offers and bids, at most, >= 0
  int offers = 32;                         ///< per shard and round, > 0
  int blocks = 1 << 20;                    ///< offers a round in all, > 0
  strads::ScheduleOptions selection = {};  ///< which jobs are offered
  int schedulers = 1;                      ///< groups of shards that take turns at offering, > 0
  int depth = 0;                           ///< rounds a bid may be old when it is granted, >= 0
  int bidders = 16;                        ///< shards that may bid on one offer, > 0
  double claim = 0.01;  ///< share of a shard's GPUs that grants of one round may ask for, > 0; the
                        ///< largest bid on it is always allowed
  double theta = 0.5;   ///< share of its bid that a grant may lose to others before it, [0, 1)
  int tabu_rounds = 6;  ///< a refused (job, shard) pair is not tried again for so long
  double least_gain = 2e-5;          ///< stop after two rounds that gain less than this fraction
  int regroups = 4;                  ///< regroup rounds after those, at most, >= 0
  GroupOptions groups = {};          ///< what a regroup round does
  double least_regroup_gain = 1e-5;  ///< stop after two of them that gain less than this fraction
};

/// What a round cost; measured, never a decision.
struct RoundCost {
  std::int64_t messages = 0;  ///< collectives started by each rank
  std::int64_t bytes = 0;     ///< given to other ranks, by all ranks together
  int slowest_rank = 0;       ///< the one that worked longest, waiting apart
  double slowest = 0.0;       ///< its seconds of work
  double mean = 0.0;          ///< seconds of work of all ranks / ranks
};

/// What one round was and did; the same on all ranks.
struct RoundReport {
  int round = 0;  ///< 0 = after the local plans
  model::RoundKind kind = model::RoundKind::offers;
  double objective = 0.0;   ///< incumbent
  double importance = 0.0;  ///< regret of all offers
  std::int64_t offers = 0;  ///< blocks on the table; of a regroup round its groups
  std::int64_t bids = 0;
  std::int64_t grants = 0;
  std::int64_t commits = 0;    ///< grants realised; groups that gained
  std::int64_t conflicts = 0;  ///< grants refused by a destination that had committed another first
  std::int64_t refusals = 0;   ///< grants refused by a destination as it was when it bid
  double gain = 0.0;
  RoundCost cost{};
};

/// What the caller decides between rounds; called on rank 0 only, but for `save`.
struct Hooks {
  std::function<void(const RoundReport&)> report = [](const RoundReport&) {};
  /// A round ended that nothing cut into: what `coordinate` needs to go on from here. On all ranks.
  std::function<void(const RoundState&, std::span<const solver::Shard> mine)> save =
      [](const RoundState&, std::span<const solver::Shard>) {};
  std::function<double(double objective)> gap = [](double) { return 1.0; };  ///< certified so far
};

/// What is live while the rounds run.
struct RoundContext {
  solver::RunContext run = {};  ///< rounds end at its gap; every rank asks its stop between rounds,
                                ///< one yes ends them
  LimitAllocation* allocation =
      nullptr;         ///< quotas and uplinks, which the shards keep; null: there are none
  int save_every = 0;  ///< rounds between two calls of Hooks::save, round 0 first; 0 = none
  Hooks hooks = {};
};

struct CoordinationResult {
  double objective = 0.0;
  int rounds = 0;
  model::Placement spanning = {};  ///< jobs that lie over several shards now; ascending JobId
};

/// STRADS rounds over all shards: *schedule* (each shard offers its unplaced jobs of largest
/// regret), *push* (the others bid on a snapshot), *pull* (grants in one computed order, largest
/// gain first, ties by job: the destination places the job on real devices or refuses, the source
/// lets go), then a local ejection search and new prices: what one more GPU of a type costs where
/// it is cheapest. When those gain no more, regroup rounds. Rounds after `start`, with shards as
/// they were then, go on as if they had never stopped. Each rank passes its own shards; the outcome
/// does not depend on who owns what.
///
/// Messages a round: three all-gathers of 16-24 B an offer, bid and outcome, one reduction of
/// prices (8 B per GPU type), one all-gather of what the round cost (16 B a rank). Where there are
/// more shards than may bid on an offer, two more: what room costs (104 B per shard and GPU type)
/// and who is asked (8 B each). Where ranks hold parts of the jobs, one more with the records of
/// those on the table.
CoordinationResult coordinate(const comm::Communicator& comm, const Decomposition& decomposition,
                              std::span<solver::Shard> mine, const RoundOptions& options,
                              const RoundContext& context = {}, const RoundState& start = {});

/// Where the jobs lie that are at home on this rank, ascending JobId. Each rank passes its shards
/// and all that spans. Collective.
model::Placement placements_at_home(const comm::Communicator& comm,
                                    std::span<const solver::Shard> mine,
                                    const model::Placement& spanning, const JobRecords& records);

}  // namespace berth::coordinator
