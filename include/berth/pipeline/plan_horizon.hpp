// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "berth/base/stop.hpp"
#include "berth/coordinator/horizon_rounds.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"
#include "berth/pipeline/plan_cluster.hpp"
#include "berth/report/progress.hpp"
#include "berth/solver/dual_part.hpp"

namespace berth::pipeline {

/// What `berth plan --horizon` asks for.
struct HorizonRequest {
  model::Horizon horizon;
  std::optional<model::RawHorizonPlan> keep;  ///< an earlier plan whose starts are promises
  /// Price of a promise at its start (docs/horizon.md); none: it is kept if at all possible.
  std::optional<double> keep_price;
  int effort = 1;    ///< passes of search, counted: more passes begin with all of fewer
  double gap = 0.0;  ///< no further pass at this proved gap, a fraction
  CheckpointOptions checkpoint = {};   ///< written after every so many passes; where to go on from
  solver::DualRanks* ranks = nullptr;  ///< that evaluate parts of the dual; null: this rank alone
  coordinator::ShardRanks* shard_ranks = nullptr;  ///< that plan shards; null: this rank alone
  std::size_t shards = 0;  ///< 0: by machines and jobs (solver::shards_in_time)
  coordinator::HorizonRoundOptions rounds = {};
};

/// Computes a certified plan in time of an instance (docs/horizon.md). Equal input gives an equal
/// plan, bit for bit, on any number of ranks and threads, unless `stop` cut it short. Main thread;
/// one rank, with others that evaluate parts of its dual and plan shards of large instances.
///
/// @pre a PetscSession exists; the instance has all jobs and names
/// @throws InputError when the checkpoint to go on from is of another run, or damaged
model::HorizonPlan plan_horizon(const model::InstanceView& instance, const HorizonRequest& request,
                                report::ProgressTable& progress, const StopToken& stop = {});

/// Writes the plan. Its text is read back and judged (certify::check_horizon) before the file
/// replaces an earlier one. @throws std::logic_error that names the first fault; the earlier file
/// then stays
void write_horizon_plan(const std::string& path, const model::InstanceView& instance,
                        const model::HorizonPlan& plan);

}  // namespace berth::pipeline
