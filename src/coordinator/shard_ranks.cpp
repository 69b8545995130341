// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/shard_ranks.hpp"

#include "horizon_messages.hpp"

#include <algorithm>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/parallel/loops.hpp"

namespace berth::coordinator {
namespace {

using solver::HorizonShard;

std::string status_of(const HorizonShard& shard, const StopToken& stop) {
  return to_bytes(
      ShardStatus{.cost = shard.cost(), .cut = stop.has_cut(), .offers = shard.offers()});
}

std::string answer_of(HorizonShard& shard, ShardRequest request, std::string_view bytes,
                      const StopToken& stop) {
  switch (request) {
    case ShardRequest::begin:
      shard.plan(stop);
      return status_of(shard, stop);
    case ShardRequest::bid:
      return to_bytes(shard.bids(solver::guests_from(bytes)));
    case ShardRequest::take:
      return to_bytes(shard.take(from_bytes<std::vector<solver::HorizonBid>>(bytes)));
    case ShardRequest::settle: {
      const auto settled = from_bytes<SettleRequest>(bytes);
      shard.settle(settled.left);
      shard.improve(settled.seed, settled.share, stop);
      return status_of(shard, stop);
    }
    case ShardRequest::collect:
      return to_bytes(ShardPlan{.names = shard.names(), .plan = shard.plan()});
  }
  BERTH_EXPECT(false);
  return {};
}

}  // namespace

std::vector<ShardMessage> ShardsOfRank::answer(std::vector<ShardMessage> messages) {
  std::ranges::sort(messages, {}, &ShardMessage::shard);
  const auto request_of = [](const ShardMessage& message) {
    return static_cast<ShardRequest>(message.bytes.at(0));
  };
  for (ShardMessage& message : messages) {
    if (request_of(message) != ShardRequest::begin) continue;
    shards_.insert_or_assign(
        message.shard,
        HorizonShard(solver::shard_task_from(std::string_view(message.bytes).substr(1))));
    message.bytes.resize(1);
  }
  std::vector<ShardMessage> answers(messages.size());
  parallel::run_tasks(messages.size(), [&](std::size_t i) {
    const ShardMessage& message = messages[i];
    answers[i] = {.shard = message.shard,
                  .bytes = answer_of(shards_.at(message.shard), request_of(message),
                                     std::string_view(message.bytes).substr(1), stop_)};
  });
  return answers;
}

}  // namespace berth::coordinator
