// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/comm/traffic.hpp"

namespace berth::scale {

/// Time and traffic of one rank in one stage.
struct RankShare {
  double work = 0.0;     ///< seconds without waiting
  double waiting = 0.0;  ///< seconds in collectives
  std::int64_t messages = 0;
  std::int64_t bytes = 0;  ///< given to other ranks
};

struct StageShares {
  std::string stage;
  std::vector<RankShare> ranks{};

  [[nodiscard]] double slowest() const;    ///< seconds of work of the slowest rank
  [[nodiscard]] double total() const;      ///< seconds of work of all ranks
  [[nodiscard]] double imbalance() const;  ///< slowest / mean; 1 = even, 0 = no work
};

/// Collectives of one kind in one stage.
struct CallCount {
  std::string stage;
  comm::Call call = comm::Call::barrier;
  std::int64_t messages = 0;  ///< started by each rank; equal on all ranks
  std::int64_t bytes = 0;     ///< given to other ranks, by all ranks together

  friend bool operator==(const CallCount&, const CallCount&) = default;
};

/// Results of planning one instance on one number of ranks; figures are those of the repeat with
/// the median time.
struct ScalingPoint {
  int ranks = 1;
  int threads = 1;
  std::int64_t gpus = 0;
  std::int64_t jobs = 0;
  std::int64_t shards = 0;
  std::string plan_digest{};
  bool same_digest = true;  ///< all repeats gave one digest
  double objective = 0.0;
  double upper_bound = 0.0;
  double gap = 0.0;
  std::int64_t evaluations = 0;  ///< of the consensus prices
  std::int64_t rounds = 0;
  std::vector<double> solve_seconds{};  ///< of each repeat, slowest rank, without loading
  double median_seconds = 0.0;
  /// by rank, all threads; unlike wall time, not longer on a busy machine
  std::vector<double> cpu_seconds{};
  std::vector<StageShares> stages{};
  std::vector<CallCount> calls{};
  /// local plan, by shard; empty when one plan covered all shards
  std::vector<double> shard_seconds{};
  std::vector<double> evaluate_seconds{};  ///< evaluating blocks of jobs at prices, by rank
  std::vector<double> peak_memory_mib{};   ///< by rank, maximum over all repeats

  [[nodiscard]] std::int64_t messages() const;  ///< by each rank, all stages
  [[nodiscard]] std::int64_t bytes() const;     ///< by all ranks, all stages
  [[nodiscard]] double largest_memory() const;  ///< MiB
  [[nodiscard]] double largest_cpu() const;     ///< seconds
};

}  // namespace berth::scale
