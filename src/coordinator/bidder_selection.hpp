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

/// A shard is to bid on an offered job. Trivially copyable.
struct BidRequest {
  JobId job;
  ShardId shard;
  auto operator<=>(const BidRequest&) const = default;
};

/// Which shards may bid on an offer. A bid costs a search through the shard, and with hundreds of
/// shards nearly all bids on a job are in vain: one of them is granted.
class BidderSelection {
 public:
  /// @param quotes  what room costs in every shard at least, any order
  BidderSelection(const planner_model::Valuation& valuation,
                  std::span<const solver::EvictionCost> eviction_costs);

  /// Up to `most` shards where the job might gain anything, its source and refused pairs apart,
  /// drawn in proportion to what it might gain at most. A function of the costs as a set.
  [[nodiscard]] std::vector<BidRequest> of(const solver::JobOffer& offer, const TabuPairs& tabu,
                                           std::size_t most, int round, std::uint64_t seed) const;

 private:
  struct TypeValue {
    GpuTypeId type;
    double value;  ///< largest of a job's options on the type
  };
  [[nodiscard]] double largest_gain(std::span<const TypeValue> values, std::int64_t milli,
                                    std::size_t row) const;

  const planner_model::Valuation& valuation_;
  std::vector<ShardId> shards_;                ///< ascending
  std::vector<solver::EvictionCost> by_type_;  ///< shard's row x types + type; invalid = has none
  std::size_t types_;
};

}  // namespace berth::coordinator
