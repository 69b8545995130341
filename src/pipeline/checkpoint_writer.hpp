// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning_context.hpp"
#include "round.hpp"

#include <span>
#include <string>

#include "berth/pipeline/checkpoint.hpp"
#include "berth/solver/shard.hpp"

namespace berth::pipeline {

/// Writes checkpoints. A call is collective: rank 0 gathers the contents of a sixteenth of the
/// shards at a time and writes them before the next. Errors are thrown on all ranks.
class CheckpointWriter {
 public:
  CheckpointWriter(const PlanningContext& context, const LocalSolution& solution);
  void operator()(const coordinator::RoundState& rounds, std::span<const solver::Shard> mine);

 private:
  const comm::Communicator& comm_;
  std::string path_;
  Checkpoint checkpoint_;
};

}  // namespace berth::pipeline
