// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/solver/shard.hpp"

namespace berth::solver {

/// An unplaced job that its shard offers to others. Trivially copyable: `comm` sends it as bytes.
struct JobOffer {
  JobId job;
  ShardId source;
  double regret = 0.0;  ///< best priced profit that the job misses; importance of the offer
};

/// Gain of a shard from placing an offered job, on its present content.
struct Bid {
  JobId job;
  ShardId shard;
  double gain = 0.0;       ///< value of the job here less value of the jobs it evicts; > 0
  std::int64_t drawn = 0;  ///< GPU thousandths needed of each of its quotas beyond present use
};

/// Lower bounds on the cost of room in a shard: jobs whose eviction frees 2^k GPUs of the type have
/// at least value least[k]; infinity if no eviction frees as many. Trivially copyable.
struct EvictionCost {
  ShardId shard;
  GpuTypeId type;
  std::array<double, 12> least = {};
};

/// All unplaced jobs of positive regret, ascending.
[[nodiscard]] std::vector<JobOffer> offers(const Shard& shard);

/// Eviction costs, one entry per GPU type of the shard. O(occupants log occupants).
[[nodiscard]] std::vector<EvictionCost> eviction_costs(const Shard& shard);

/// Bids for those of `jobs` from which the shard gains, in their order; each as if it were alone.
/// @param left  by quota: slack over all shards. A job that fits into it may draw on it; any other
///              must fit into the shard's allowance, if need be by evictions
[[nodiscard]] std::vector<Bid> bids(const Shard& shard, std::span<const JobId> jobs,
                                    std::span<const std::int64_t> left = {});

/// Places the job if that still gains at least `at_least`; evicted jobs become unplaced jobs of the
/// shard. Returns the value added; 0: refused, and nothing has changed.
/// @param drawn  additional allowance of each of the job's quotas if the job is placed
double realise(Shard& shard, JobId job, double at_least, std::int64_t drawn = 0);

/// By GpuTypeId: cost of one more GPU in the shard: 0 if one is idle, else the least value per GPU
/// of an evictable job; infinity for a type that the shard lacks. Decision 2.
[[nodiscard]] std::vector<double> marginal_prices(const Shard& shard);

}  // namespace berth::solver
