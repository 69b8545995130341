// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/gap_parts.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"

namespace berth::model {

/// A job that is not in the plan, and the reason.
struct UnplacedJob {
  JobId job;
  std::string reason;
};

template <class Archive>
void describe(Archive& archive, UnplacedJob& unplaced) {
  archive(unplaced.job, unplaced.reason);
}

/// Figures about a plan; all but `seconds` and `stats` are recomputed by `berth check`.
struct Figures {
  double objective = 0.0;
  /// no plan (placing at least the required jobs placed here) exceeds it
  double upper_bound = 0.0;
  double gap = 0.0;  ///< (upper_bound - objective) / max(|upper_bound|, 1e-12), a fraction
  std::int64_t gpus_total = 0;
  std::int64_t gpu_milli_total = 0;
  std::int64_t gpu_milli_allocated = 0;
  std::int64_t jobs_total = 0;
  std::int64_t jobs_placed = 0;
};

/// Kind of a coordinator round: offers and bids between shards, or a search in groups of pods.
enum class RoundKind : std::uint8_t { offers, regroup };

/// One coordinator round (docs/formats.md). Its results are reproducible, its costs are not.
struct RoundRecord {
  int round = 0;
  RoundKind kind = RoundKind::offers;
  double objective = 0.0;
  double upper_bound = 0.0;
  double gap = 0.0;         ///< a fraction
  double importance = 0.0;  ///< regret of all offers
  double gain = 0.0;
  std::int64_t blocks = 0;  ///< jobs on offer
  std::int64_t bids = 0;
  std::int64_t commits = 0;
  std::int64_t conflicts = 0;  ///< grants to a destination that had committed another job first
  std::int64_t refusals = 0;   ///< grants to a destination that could no longer place the job
  std::int64_t messages = 0;   ///< collectives started by each rank
  std::int64_t bytes = 0;      ///< sent to other ranks, sum over all ranks
  int slowest_rank = 0;
  double slowest_seconds = 0.0;  ///< work of the slowest rank, without waiting
  double mean_seconds = 0.0;     ///< mean work of the ranks, without waiting
};

/// The jobs of one priority in a plan by priority, and the proof of their bound.
struct PriorityClass {
  std::int32_t priority = 0;
  std::int64_t jobs_total = 0;
  std::int64_t jobs_placed = 0;
  double value = 0.0;  ///< of the jobs of this class
  /// no plan in which every class above keeps its value exceeds it
  double upper_bound = 0.0;
  double gap = 0.0;  ///< as in Figures
  /// Of the values of the classes above, highest first, in the bound: logarithms to base 2.
  std::vector<std::int32_t> weights_log2 = {};
  Certificate certificate = {};  ///< without prices of jobs
};

template <class Archive>
void describe(Archive& archive, PriorityClass& c) {
  archive(c.priority, c.jobs_total, c.jobs_placed, c.value, c.upper_bound, c.gap);
  archive(c.weights_log2, c.certificate);
}

/// Content of plan.json (docs/formats.md).
struct Plan {
  std::string instance_digest;
  std::string plan_digest;
  std::string proof_digest;  ///< SHA-256 over objective, bound and prices
  std::uint64_t seed = 0;
  Objective objective_kind = Objective::value;
  std::map<std::string, std::string> options;  ///< as given on the command line
  bool reproducible = true;                    ///< false when a clock influenced the plan
  Figures figures;
  GapParts gap_parts;
  std::vector<JobId> required_missing;    ///< ascending
  std::map<std::string, double> seconds;  ///< wall time per stage on the slowest rank
  std::map<std::string, double> stats;
  std::vector<RoundRecord> rounds;  ///< of the coordinator, in order
  Certificate certificate;
  std::vector<PriorityClass> classes;  ///< highest first; empty unless planned by priority
  Placement placements;
  std::vector<UnplacedJob> waiting;  ///< ascending JobId
};

}  // namespace berth::model
