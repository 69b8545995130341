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

/// Measurements behind the defaults: docs/decisions 2, 5 and 13. `rounds`, `blocks`, `schedulers`,
/// `depth` and `tabu_rounds` are chosen, not tuned.
struct RoundOptions {
  int rounds = 12;                         ///< most rounds of offers and bids, >= 0
  int offers = 32;                         ///< offers per shard and round, > 0; decision 5
  int blocks = 1 << 20;                    ///< most offers of all shards in a round, > 0
  strads::ScheduleOptions selection = {};  ///< how offers are selected; decision 5
  int schedulers = 1;                      ///< groups of shards that offer in turns, > 0
  int depth = 0;                           ///< rounds between a bid and its grant, >= 0
  int bidders = 16;                        ///< most shards that bid on one offer, > 0; decision 5
  double claim = 0.01;  ///< share of a shard's GPUs that the grants of a round may claim, > 0; its
                        ///< largest bid is always allowed; decision 5
  double theta =
      0.5;  ///< share of its bid that a grant may lose to earlier ones, [0, 1); decision 5
  int tabu_rounds = 6;       ///< rounds for which a refused (job, shard) pair is tabu
  double least_gain = 2e-5;  ///< stops after two rounds of smaller relative gain; decision 5
  int regroups = 4;          ///< most regroup rounds after those, >= 0; decision 13
  GroupOptions groups = {};  ///< of regroup rounds
  double least_regroup_gain = 1e-5;  ///< stops after two of them of smaller gain; decision 2
};
/// Cost of a round. Measured; no decision depends on it.
struct RoundCost {
  std::int64_t messages = 0;  ///< collectives started by each rank
  std::int64_t bytes = 0;     ///< sent to other ranks, sum over all ranks
  int slowest_rank = 0;       ///< rank with the most seconds of work, waiting excluded
  double slowest = 0.0;       ///< its seconds of work
  double mean = 0.0;          ///< mean seconds of work of the ranks
};
/// Description and result of one round; equal on all ranks.
struct RoundReport {
  int round = 0;  ///< 0 = after the local plans
  model::RoundKind kind = model::RoundKind::offers;
  double objective = 0.0;   ///< value of the incumbent after the round
  double importance = 0.0;  ///< regret of all offers
  std::int64_t offers = 0;  ///< offered jobs; of a regroup round: groups
  std::int64_t bids = 0;
  std::int64_t grants = 0;
  std::int64_t commits = 0;    ///< grants realised; groups that gained
  std::int64_t conflicts = 0;  ///< grants refused by a shard that had committed another one before
  std::int64_t refusals = 0;   ///< grants refused by a shard that had not changed since its bid
  double gain = 0.0;
  RoundCost cost{};
};

/// Functions of the caller, called between rounds: `save` on all ranks, the others on rank 0.
struct Hooks {
  std::function<void(const RoundReport&)> report = [](const RoundReport&) {};
  /// After a round that no stop has cut short: the state from which `coordinate` can continue.
  std::function<void(const RoundState&, std::span<const solver::Shard> mine)> save =
      [](const RoundState&, std::span<const solver::Shard>) {};
  /// Certified gap at this objective, a fraction.
  std::function<double(double objective)> gap = [](double) { return 1.0; };
};
/// Live context of the rounds.
struct RoundContext {
  solver::RunContext run =
      {};  ///< rounds end at its gap, or when any rank finds its stop requested
  LimitAllocation* allocation = nullptr;  ///< allowances of limits; null: no limits
  int save_every = 0;  ///< rounds between two calls of Hooks::save, from round 0; 0 = none
  Hooks hooks = {};
};

/// Options, live context and start of the rounds. Holds references.
struct RoundSetting {
  const RoundOptions& options;
  const RoundContext& context;
  const RoundState& start;
};

struct CoordinationResult {
  double objective = 0.0;
  int rounds = 0;
  model::Placement spanning = {};  ///< jobs over several shards; ascending JobId
};

/// STRADS rounds (Kim et al. 2016) over all shards. *Schedule*: each shard offers unplaced jobs by
/// regret. *Push*: other shards bid on a snapshot. *Pull*: bids are granted in one computed order
/// (gain descending, ties by job); the destination places the job on devices or refuses it, and the
/// source forgets it. Then each shard runs an ejection search, and prices are updated to the least
/// cost of one more GPU of each type. When rounds gain too little, regroup rounds follow. Rounds
/// from a saved `start` give the results of an uninterrupted run. Each rank passes its own shards;
/// the result does not depend on the owners.
///
/// Messages of a round: three all-gathers of 16-24 B per offer, bid and outcome, one reduction of
/// prices (8 B per GPU type), one all-gather of costs (16 B per rank). With more shards than may
/// bid on an offer, two more: eviction costs (104 B per shard and GPU type) and bid requests (8 B
/// each). If ranks hold parts of the jobs, one more with the records of the offered jobs.
CoordinationResult coordinate(const comm::Communicator& comm, const Decomposition& decomposition,
                              JobRecords& records, std::span<solver::Shard> mine,
                              const RoundSetting& setting);

/// Placements of the jobs at home on this rank, ascending JobId. Each rank passes its shards and
/// all spanning jobs. Collective.
model::Placement placements_at_home(const comm::Communicator& comm,
                                    std::span<const solver::Shard> mine,
                                    const model::Placement& spanning, const JobRecords& records);

}  // namespace berth::coordinator
