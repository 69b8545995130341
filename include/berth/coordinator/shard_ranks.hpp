// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/solver/horizon_shard.hpp"

namespace berth::coordinator {

/// What rank 0 asks a shard of a plan in time, or its answer (horizon_messages.hpp).
struct ShardMessage {
  ShardId shard;
  std::string bytes;
};

template <class Archive>
void describe(Archive& archive, ShardMessage& message) {
  archive(message.shard, message.bytes);
}

/// The ranks that have the shards of a plan in time.
class ShardRanks {
 public:
  virtual ~ShardRanks() = default;
  [[nodiscard]] virtual std::size_t size() const = 0;  ///< ranks

  /// Sends messages, at most one to a shard, and returns the answers, ascending by shard.
  /// @param rank_of_shard  by shard; the same in all calls
  [[nodiscard]] virtual std::vector<ShardMessage> ask(std::vector<ShardMessage> messages,
                                                      std::span<const int> rank_of_shard) = 0;
};

/// The shards of one rank. Shards answer in parallel, each by its own plan alone.
class ShardsOfRank {
 public:
  explicit ShardsOfRank(const StopToken& stop) : stop_(stop) {}
  std::vector<ShardMessage> answer(std::vector<ShardMessage> messages);

 private:
  StopToken stop_;
  std::map<ShardId, solver::HorizonShard> shards_;
};

/// All shards on this rank, without messages between ranks.
class OneShardRank final : public ShardRanks {
 public:
  explicit OneShardRank(const StopToken& stop) : shards_(stop) {}
  [[nodiscard]] std::size_t size() const override { return 1; }
  [[nodiscard]] std::vector<ShardMessage> ask(std::vector<ShardMessage> messages,
                                              std::span<const int>) override {
    return shards_.answer(std::move(messages));
  }

 private:
  ShardsOfRank shards_;
};

}  // namespace berth::coordinator
