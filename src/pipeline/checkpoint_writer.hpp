// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning_context.hpp"
#include "round.hpp"

#include <span>
#include <string>

#include "berth/pipeline/checkpoint.hpp"
#include "berth/report/progress.hpp"
#include "berth/solver/shard.hpp"

namespace berth::pipeline {

/// Writes checkpoints. A call is collective: rank 0 gathers a sixteenth of the contents
/// of shards, or of the placement, at a time and writes them before the next. Where the machine
/// refuses (disk full), an earlier file stays, one warning tells, and planning goes on: a
/// checkpoint is not worth the plan.
class CheckpointWriter {
 public:
  CheckpointWriter(const PlanningContext& context, const LocalSolution& solution);
  /// After a round. @param mine  this rank's shards
  void operator()(const coordinator::RoundState& rounds, std::span<const solver::Shard> mine);
  /// After a pass of effort. @param here  placements of this rank's jobs
  void operator()(const coordinator::RoundState& rounds, const EffortState& effort,
                  std::span<const model::JobPlacement> here);

 private:
  template <class Work>
  bool written(const Work& work);
  template <class Gather>
  void write(const Gather& gather);

  const comm::Communicator& comm_;
  report::ProgressTable& progress_;
  std::string path_;
  bool warned_ = false;
  Checkpoint checkpoint_;
};

}  // namespace berth::pipeline
