// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/coordinator/checkpoint.hpp"
#include "berth/coordinator/consensus.hpp"
#include "berth/io/file.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/digest.hpp"
#include "berth/model/placement.hpp"
#include "berth/solver/configuration_lp.hpp"
#include "berth/solver/pack.hpp"

namespace berth::pipeline {

/// What passes of effort (`PlanOptions::effort`) have found, beside the plan.
struct EffortState {
  int pass = 0;                    ///< last completed one; 0: the rounds are not done
  bool bound_falls = true;         ///< steps added last have lowered the bound
  double upper_bound = 0.0;        ///< that the certificate proves
  model::Certificate certificate;  ///< on rank 0
};

template <class Archive>
void describe(Archive& archive, EffortState& e) {
  archive(e.pass, e.bound_falls, e.upper_bound, e.certificate);
}

/// State of a run at the end of a round or pass. Together with the contents of the shards, or after
/// a pass the placement, it suffices to continue on any number of ranks with the results of an
/// uninterrupted run.
struct Checkpoint {
  std::string instance_digest;
  std::string options;  ///< `fingerprint` of the options: words `key=value`
  coordinator::Consensus consensus;
  solver::ConfigurationSolution configurations;
  std::vector<std::vector<solver::TaskPrice>> task_prices;  ///< as LocalPlans::task_prices
  coordinator::RoundState rounds;
  EffortState effort;
};

template <class Archive>
void describe(Archive& archive, Checkpoint& c) {
  archive(c.instance_digest, c.options, c.consensus, c.configurations, c.task_prices, c.rounds,
          c.effort);
}

/// First line of a checkpoint: `berth checkpoint 9`, and the build of this program, for blocks have
/// the bytes that its types have in memory.
[[nodiscard]] const std::string& checkpoint_header();

/// Writes a checkpoint file and replaces an earlier one atomically. Format: its first line; blocks,
/// each of 8 bytes of length and that many bytes: the checkpoint, then contents of shards or parts
/// of the placement; 64 hexadecimal digits of the SHA-256 of all this. @throws SystemError
class CheckpointOutput {
 public:
  CheckpointOutput(const std::string& path, const Checkpoint& checkpoint);
  void add(const coordinator::ShardContents& contents);
  void add(const model::Placement& part);
  void commit();

 private:
  void write(std::string_view bytes);
  void add_block(std::string_view bytes);

  io::AtomicFile file_;
  model::Sha256 digest_;
};

/// Reads a checkpoint file block by block, after reading it once to verify its digest.
class CheckpointInput {
 public:
  /// @throws InputError naming the file: no checkpoint, another format, cut short or damaged
  explicit CheckpointInput(const std::string& path);

  [[nodiscard]] const Checkpoint& head() const { return head_; }
  /// Contents of the next shards; nullopt after the last ones.
  std::optional<coordinator::ShardContents> next();
  /// The next part of the placement after a pass; nullopt after the last one.
  std::optional<model::Placement> next_placed();

 private:
  template <class T>
  T next_block();
  std::string take(std::uint64_t bytes);

  std::string path_;
  std::uint64_t left_;  ///< bytes before the digest
  io::PieceReader file_;
  std::string read_;  ///< bytes read and not yet returned
  Checkpoint head_;
};

/// What a checkpoint was made from.
struct CheckpointOrigin {
  std::string instance_digest;
  std::string options;  ///< words `key=value`
};

/// @throws InputError when the file was made from another instance or with other options; it names
///         those that differ
void expect_same_run(const std::string& path, const CheckpointOrigin& made,
                     const CheckpointOrigin& now);
void expect_same_run(const std::string& path, const Checkpoint& checkpoint,
                     const std::string& instance_digest, const std::string& options);

/// @throws InputError when the bytes do not begin as a checkpoint of this build
void expect_checkpoint(const std::string& path, std::string_view bytes);

}  // namespace berth::pipeline
