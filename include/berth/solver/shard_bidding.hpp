// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/solver/shard.hpp"

namespace berth::solver {

/// A job its shard could not place. Trivially copyable: `comm` ships it as it stands.
struct JobOffer {
  JobId job;
  ShardId source;
  double regret = 0.0;  ///< value the job could still add at most; importance of the offer
};

/// What a shard would gain by taking a job, on its present content.
struct Bid {
  JobId job;
  ShardId shard;
  double gain = 0.0;       ///< value of the job here minus value of the jobs it would evict; > 0
  std::int64_t drawn = 0;  ///< GPU thousandths it needs of each of its quotas beyond what is used
};

/// Lower bounds on what room costs a shard: no jobs whose eviction frees 2^k GPUs of the type are
/// worth less than least[k]; infinity when there are none. Trivially copyable.
struct EvictionCost {
  ShardId shard;
  GpuTypeId type;
  std::array<double, 12> least = {};
};

/// All unplaced jobs of positive regret, ascending.
[[nodiscard]] std::vector<JobOffer> offers(const Shard& shard);

/// One for each GPU type the shard has. O(occupants log occupants).
[[nodiscard]] std::vector<EvictionCost> eviction_costs(const Shard& shard);

/// Bids for those of `jobs` the shard would gain from, in their order; each bid on its own.
/// @param left  by quota: what all shards leave of it. A job that this suffices for may draw on
///              it; another must find room in the shard's own allowance, or make some
[[nodiscard]] std::vector<Bid> bids(const Shard& shard, std::span<const JobId> jobs,
                                    std::span<const std::int64_t> left = {});

/// Places the job if that still gains at least `at_least`; jobs evicted become unplaced there.
/// Returns the value added, 0 when refused (nothing has changed then).
/// @param drawn  what the shard may use more of each of the job's quotas if it places the job
double realise(Shard& shard, JobId job, double at_least, std::int64_t drawn = 0);

/// What one more GPU of each type costs there: 0 when one is idle, else the least value per GPU of
/// a job that would be evicted; infinity for a type the shard does not have. By GpuTypeId.
[[nodiscard]] std::vector<double> marginal_prices(const Shard& shard);

}  // namespace berth::solver
