// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/coordinator/grant.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/shard_bidding.hpp"

namespace berth::coordinator {

/// Request that a shard bids on an offered job. Trivially copyable.
struct BidRequest {
  JobId job;
  ShardId shard;
  auto operator<=>(const BidRequest&) const = default;
};

/// Selects the shards that bid on an offer. A bid costs a search in the shard, and with hundreds of
/// shards nearly all bids on a job are useless, because one is granted (decision 5).
class BidderSelection {
 public:
  /// @param eviction_costs  lower bounds on the cost of room in every shard, any order
  BidderSelection(const planner_model::Valuation& valuation,
                  std::span<const solver::EvictionCost> eviction_costs);

  /// Up to `most` shards where the job may gain, without its source and tabu pairs, drawn in
  /// proportion to the largest possible gain. With more than 256 shards, of 256 that are drawn for
  /// the job and the round. A function of the set of costs. O(1) in the number of shards.
  [[nodiscard]] std::vector<BidRequest> of(const solver::JobOffer& offer, const TabuPairs& tabu,
                                           std::size_t most, int round, std::uint64_t seed) const;

 private:
  struct TypeValue {
    GpuTypeId type;
    double value;  ///< largest value of a job's options on the type
  };
  [[nodiscard]] double largest_gain(std::span<const TypeValue> values, std::int64_t milli,
                                    std::size_t row) const;

  const planner_model::Valuation& valuation_;
  std::vector<ShardId> shards_;                ///< ascending
  std::vector<solver::EvictionCost> by_type_;  ///< [row of shard x types + type]; invalid = no GPUs
  std::size_t types_;
};

}  // namespace berth::coordinator
