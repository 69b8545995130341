// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/coordinator/shard_ranks.hpp"
#include "berth/solver/dual_part.hpp"

namespace berth::coordinator {

/// The ranks that evaluate the smoothed dual of a plan in time, and plan its shards. Rank 0
/// minimises by TAO, jobs are in blocks over all ranks: an evaluation is a broadcast of the prices
/// and a reduction of as many fixed-point sums to rank 0, the same bits on any number of ranks.
/// Shards are on the rank that they are given to, and answer messages of rank 0.
///
/// On rank 0 only, from construction to destruction, which ends `serve_dual` on the other ranks.
class RootOfDual final : public solver::DualRanks, public ShardRanks {
 public:
  /// @param stop  ends searches of the shards on this rank
  explicit RootOfDual(const comm::Communicator& comm, const StopToken& stop = {})
      : comm_(comm), own_(stop) {}
  ~RootOfDual() override;
  RootOfDual(const RootOfDual&) = delete;
  RootOfDual& operator=(const RootOfDual&) = delete;

  [[nodiscard]] std::size_t size() const override { return static_cast<std::size_t>(comm_.size()); }
  void share(std::vector<std::string> parts) override;
  void sum(std::span<const double> ends, double temperature,
           const std::function<void(std::span<std::int64_t>)>& own,
           std::span<std::int64_t> sums) override;
  [[nodiscard]] std::vector<ShardMessage> ask(std::vector<ShardMessage> messages,
                                              std::span<const int> rank_of_shard) override;

 private:
  const comm::Communicator& comm_;
  ShardsOfRank own_;
};

/// On every other rank: evaluates this rank's part and plans its shards until rank 0 ends. A rank
/// that fails adds zeros and gives empty answers from then on, so that no rank waits for it, and
/// throws at the end. @param stop  ends searches of the shards on this rank
void serve_dual(const comm::Communicator& comm, const StopToken& stop = {});

}  // namespace berth::coordinator
