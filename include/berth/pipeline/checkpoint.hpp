// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/coordinator/checkpoint.hpp"
#include "berth/coordinator/consensus.hpp"
#include "berth/io/file.hpp"
#include "berth/model/digest.hpp"
#include "berth/solver/pack.hpp"

namespace berth::pipeline {

/// A plan in the making, as it stood at the end of a round: enough to go on from there on any
/// number of ranks as if nothing had happened, with what the shards hold.
struct Checkpoint {
  std::string instance_digest;
  std::string options;  ///< those the plan depends on, `key=value` words
  coordinator::Consensus consensus;
  std::vector<solver::TaskPrice> task_prices;
  coordinator::RoundState rounds;
};

/// Replaces the file whole or not at all. A first line `berth checkpoint 5`; the checkpoint and
/// then the contents of the shards, some at a time, each as 8 bytes of its length and so many
/// bytes; 64 digits of the SHA-256 of all that. @throws SystemError
class CheckpointOutput {
 public:
  CheckpointOutput(const std::string& path, const Checkpoint& checkpoint);
  void add(std::span<const std::int64_t> contents);  ///< as `gather_contents` has them
  void commit();

 private:
  void write(std::string_view bytes);
  void add_block(std::string_view bytes);

  io::AtomicFile file_;
  model::Sha256 digest_;
};

/// The same piece by piece; the file is read once before, for its digest.
class CheckpointInput {
 public:
  /// @throws InputError naming the file: no checkpoint, another format, cut short or damaged
  explicit CheckpointInput(const std::string& path);

  [[nodiscard]] const Checkpoint& head() const { return head_; }
  /// Of further shards; nothing when those were all.
  std::optional<coordinator::ContentStream> next();

 private:
  std::string next_block();
  std::string take(std::size_t bytes);

  std::uint64_t left_;  ///< bytes before the digest
  io::PieceReader file_;
  std::string read_;  ///< and not taken
  Checkpoint head_;
};

/// @throws InputError when the file was made from another instance or with other options; it names
///         those that differ
void expect_same_run(const std::string& path, const Checkpoint& checkpoint,
                     const std::string& instance_digest, const std::string& options);

}  // namespace berth::pipeline
