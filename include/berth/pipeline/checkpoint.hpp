// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/coordinator/checkpoint.hpp"
#include "berth/coordinator/consensus.hpp"
#include "berth/solver/pack.hpp"

namespace berth::pipeline {

/// A plan in the making, as it stood at the end of a round: enough to go on from there on any
/// number of ranks as if nothing had happened.
struct Checkpoint {
  std::string instance_digest;
  std::string options;  ///< those the plan depends on, `key=value` words
  coordinator::Consensus consensus;
  std::vector<solver::ShapePrice> shape_prices;
  coordinator::RoundState rounds;
  std::vector<std::int64_t> contents;  ///< of the shards, as gather_contents writes them
};

/// Replaces the file whole or not at all: a first line `berth checkpoint 3 SHA256`, then the
/// content, which that digest covers. @throws SystemError
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);

/// @throws InputError naming the file: no checkpoint, another format, cut short or damaged
Checkpoint read_checkpoint(const std::string& path);

/// @throws InputError when the file was made from another instance or with other options
void expect_same_run(const std::string& path, const Checkpoint& checkpoint,
                     const std::string& instance_digest, const std::string& options);

}  // namespace berth::pipeline
