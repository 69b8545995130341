// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/coordinator/shard_ranks.hpp"
#include "berth/horizon/plan.hpp"
#include "berth/horizon/problem.hpp"
#include "berth/solver/horizon_bound.hpp"
#include "berth/solver/horizon_shards.hpp"

namespace berth::coordinator {

struct HorizonRoundOptions {
  std::size_t offers = 32;   ///< of each shard in a round, drawn in proportion to regret
  std::size_t blocks = 256;  ///< of all shards in a round
  /// Work of the searches of all shards together (HorizonPlanOptions::machine_visits).
  std::int64_t machine_visits = 4'000'000;
  /// The search after a round has 1 / this of that work.
  std::int64_t round_share = 8;
};

/// What a round did.
struct HorizonRoundReport {
  std::int64_t offers = 0;
  std::int64_t bids = 0;
  std::int64_t moved = 0;    ///< jobs that another shard has taken
  std::int64_t refused = 0;  ///< granted, but others took the room before
};

/// Where a plan in shards is after a round: with the problem it suffices to go on.
struct PlanInShards {
  horizon::Plan plan;               ///< with devices
  std::vector<std::int32_t> homes;  ///< by JobId: the shard of a job, or -1
};

template <class Archive>
void describe(Archive& archive, PlanInShards& state) {
  archive(state.plan, state.homes);
}

/// STRADS rounds (Kim et al. 2016) on a plan in time whose jobs are dealt to shards. A round:
///
/// 1. *schedule*: jobs that cost more at the prices than they must, in the plan, are drawn in
///    proportion to that regret;
/// 2. *push*: every other shard bids what the plan gains when it takes the job, on a frozen
///    snapshot;
/// 3. *pull*: bids are committed in order of gain, job and shard; a job has a version, so one shard
///    gets it. That places it, unless jobs committed before took the room; the old shard forgets
///    it, and all shards improve their plans.
///
/// Rank 0 decides in order, ranks and threads compute. No round makes the plan dearer, and it is
/// feasible after each.
class HorizonRounds {
 public:
  /// @param problem, bound, kept  as HorizonShards; @param ranks  null: this rank alone
  HorizonRounds(const horizon::Problem& problem, const solver::HorizonBound& bound,
                std::size_t shards, const horizon::Plan* kept, ShardRanks* ranks,
                const StopToken& stop, const HorizonRoundOptions& options = {});

  /// Deals the jobs; the shards plan theirs.
  void plan();
  /// Goes on from a plan. @return false when it cannot be divided (HorizonShards::restore)
  bool resume(const PlanInShards& from);
  /// @param round  > 0, counted over all passes: key of the draws
  HorizonRoundReport step(int round);

  [[nodiscard]] double cost() const;  ///< of all placed jobs
  [[nodiscard]] PlanInShards state();
  /// True when shards that are made anew from `state` may differ from these: where limits are
  /// divided, by what the plan uses then, and where jobs are over several shards.
  [[nodiscard]] bool changes_with_plan() const { return shards_.change_with_plan(); }
  /// The plan with jobs that several shards can hold only together.
  [[nodiscard]] horizon::Plan completed();
  /// True when a stop has cut the work of some rank short.
  [[nodiscard]] bool was_cut() const { return cut_; }

 private:
  void begin();
  template <class Make>
  std::vector<ShardMessage> ask_all(const Make& make);
  void keep_status(std::span<const ShardMessage> answers);
  [[nodiscard]] std::vector<solver::HorizonOffer> schedule(int round) const;
  [[nodiscard]] std::vector<solver::HorizonBid> grant(
      std::span<const solver::HorizonBid> bids) const;
  void collect();

  const horizon::Problem& problem_;
  solver::HorizonShards shards_;
  OneShardRank alone_;
  ShardRanks& ranks_;
  StopToken stop_;
  HorizonRoundOptions options_;
  std::vector<int> rank_of_shard_;
  std::vector<double> cost_;                               ///< by shard
  std::vector<std::vector<solver::HorizonOffer>> offers_;  ///< by shard
  double cost_over_all_ = 0.0;
  bool cut_ = false;
};

}  // namespace berth::coordinator
