// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "berth/base/stop.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/coordinator/coordinate.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/plan.hpp"
#include "berth/partition/partition.hpp"
#include "berth/report/progress.hpp"
#include "berth/solver/branch_and_bound.hpp"
#include "berth/solver/job_prices.hpp"
#include "berth/solver/market.hpp"
#include "berth/solver/online.hpp"
#include "berth/solver/required_job_repair.hpp"
#include "berth/solver/shard.hpp"

namespace berth::pipeline {

/// Files of an instance; `.gz` by suffix.
struct Input {
  std::string cluster;  ///< YAML (docs/formats.md)
  std::string jobs;     ///< JSON lines
};

/// Where a plan in the making is kept, and from where it goes on.
struct CheckpointOptions {
  std::string file;    ///< replaced at round ends; empty = none
  int every = 1;       ///< rounds between two checkpoints, > 0; the first after the local plans
  std::string resume;  ///< a checkpoint to go on from; empty = start anew
};

/// Every knob of a plan, defaults in place. The plan is a function of the instance and of these.
/// Name, unit, range and meaning of each are a row of the table in option_table.hpp.
struct PlanOptions {
  model::Objective objective = model::Objective::value;
  double gap = solver::kUsualGap;  ///< stop when the certified gap (a fraction) is this small, >= 0
  std::uint64_t seed = 0;
  partition::PartitionOptions partition;
  solver::PriceOptions prices;
  solver::ShardOptions shard;
  coordinator::RoundOptions rounds;
  solver::RequiredJobRepairOptions rescue;  ///< where a required job was left out
  bool online_order = false;                ///< jobs are placed as they arrive, not all at once
  solver::OnlineOptions online;             ///< used in that case only
  int bound_steps = -1;  ///< of the bound by job prices, once the plan is known; counted, not
                         ///< timed; -1 = 200 up to 4,096 GPUs, none above
  int tree_nodes = -1;   ///< leaves of the tree of cases at most, on top of that; -1 = 32 up to
                         ///< 1,024 GPUs, none above
  solver::JobPriceOptions job_prices;  ///< but `evaluations`, which `bound_steps` says
  solver::BranchOptions branch;        ///< but `leaves`, which `tree_nodes` says
  CheckpointOptions checkpoint;        ///< no part of what the plan depends on
};

/// @throws InputError naming the first option that is out of the range of its row. Pure.
void validate(const PlanOptions& options);

/// Reads the files: rank 0 reads, all ranks parse the jobs in blocks of lines. Every rank gets the
/// jobs that are at home there (coordinator::JobRecords) and what all need of the instance; names
/// are on rank 0. All ranks return or all throw.
/// @param block_bytes  of the jobs' text that a thread parses at a time; by default as io's own
///                     reader does
model::Instance load_instance(const comm::Communicator& comm, const Input& input,
                              std::size_t block_bytes);
model::Instance load_instance(const comm::Communicator& comm, const Input& input);

/// Refuses values that no bound can be counted for in 128 bits: InputError on all ranks with the
/// line of the job that is worth most. Collective.
void expect_countable(const comm::Communicator& comm, const model::Instance& instance,
                      model::Objective objective, const coordinator::JobRecords& jobs,
                      const std::string& jobs_path);

/// From an instance to a certified plan, by all ranks together. Of the placements and of the jobs
/// that wait each rank has those of the jobs at home there; rank 0 has all the rest.
///
/// Collective. Same instance, options and seed: the same plan, bit for bit, on any number of
/// ranks and threads, unless `stop` cut into it on some rank (then `reproducible` is false).
///
/// @param jobs  of this communicator and the instance's workload
/// @param stop  cuts into every long stage; the plan so far is certified then
/// @throws InputError where `validate` does
model::Plan plan_distributed(const comm::Communicator& comm, const model::Instance& instance,
                             const PlanOptions& options, report::ProgressTable& progress,
                             coordinator::JobRecords& jobs, const StopToken& stop = {});

/// Brings placements and waiting jobs of a plan in parts to rank 0; elsewhere none are left.
/// Collective.
void gather_plan(const comm::Communicator& comm, model::Plan& plan);

/// How many jobs of a plan in parts wait, by reason; on rank 0, empty elsewhere. Collective.
std::map<std::string, std::int64_t> waiting_by_reason(const comm::Communicator& comm,
                                                      const model::Plan& plan);

/// `plan_distributed` where every rank has all of the instance; the plan is complete on rank 0.
model::Plan plan_cluster(const comm::Communicator& comm, const model::Instance& instance,
                         const PlanOptions& options, report::ProgressTable& progress,
                         const StopToken& stop = {});

}  // namespace berth::pipeline
