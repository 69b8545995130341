// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/base/archive.hpp"
#include "berth/horizon/plan.hpp"
#include "berth/solver/horizon_shard.hpp"

namespace berth::coordinator {

/// What rank 0 asks of a shard; the first byte of a message. The answer to each follows.
enum class ShardRequest : std::uint8_t {
  begin,    ///< HorizonShardTask -> ShardStatus
  bid,      ///< HorizonGuests -> bids
  take,     ///< granted bids, in order -> names of the jobs taken
  settle,   ///< SettleRequest -> ShardStatus
  collect,  ///< nothing -> ShardPlan
};

/// After a shard has planned.
struct ShardStatus {
  double cost = 0.0;
  bool cut = false;  ///< a stop has cut some work of its rank
  std::vector<solver::HorizonOffer> offers;
};

template <class Archive>
void describe(Archive& archive, ShardStatus& status) {
  archive(status.cost, status.cut, status.offers);
}

struct SettleRequest {
  std::vector<JobId> left;  ///< taken by other shards
  std::uint64_t seed = 0;   ///< of the search
  std::int64_t share = 1;   ///< of the task's work: 1 / this
};

template <class Archive>
void describe(Archive& archive, SettleRequest& request) {
  archive(request.left, request.seed, request.share);
}

struct ShardPlan {
  std::vector<JobId> names;
  horizon::Plan plan;
};

template <class Archive>
void describe(Archive& archive, ShardPlan& plan) {
  archive(plan.names, plan.plan);
}

inline std::string message(ShardRequest request, std::string_view bytes) {
  std::string all(1, static_cast<char>(request));
  all += bytes;
  return all;
}

}  // namespace berth::coordinator
