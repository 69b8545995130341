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
#include "berth/solver/exact_search.hpp"
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

/// The file in which checkpoints of a plan are written, and the one to resume from.
struct CheckpointOptions {
  std::string file;    ///< replaced at round ends; empty = none
  int every = 1;       ///< rounds between two checkpoints, > 0; the first after the local plans
  std::string resume;  ///< a checkpoint to resume from; empty = start anew
};

inline constexpr int kMostEffort = 1'000'000;  ///< `--effort max`

/// What decides which jobs are served first.
enum class JobOrder : std::uint8_t {
  value,     ///< the value of all jobs together
  priority,  ///< class by class: the value of a class counts only where all above keep theirs
};

/// All options of a plan with their defaults. The plan is a function of the instance and of these.
/// Name, unit, range and meaning of each are a row of the table in option_table.hpp.
struct PlanOptions {
  model::Objective objective = model::Objective::value;
  JobOrder order = JobOrder::value;
  double gap = solver::kUsualGap;  ///< stop when the certified gap (a fraction) is this small, >= 0
  int effort = 1;  ///< passes of search and proof, 1 .. kMostEffort; counted, not timed
  std::uint64_t seed = 0;
  partition::PartitionOptions partition;
  solver::PriceOptions prices;
  solver::ShardOptions shard;
  coordinator::RoundOptions rounds;
  solver::RequiredJobRepairOptions required_job_repair;  ///< for a missing required job
  solver::ExactSearchOptions exact;                      ///< of small instances
  bool online_order = false;     ///< jobs are placed in order of arrival, not all at once
  solver::OnlineOptions online;  ///< used only with `online_order`
  int bound_steps = -1;  ///< of the bound by job prices, once the plan is known; counted, not
                         ///< timed; -1 = 200 up to 4,096 GPUs, none above
  int tree_nodes = -1;   ///< leaves of the tree of cases at most, on top of that; -1 = 32 up to
                         ///< 1,024 GPUs, none above
  solver::JobPriceOptions job_prices;  ///< without `evaluations`, which `bound_steps` sets
  solver::BranchOptions branch;        ///< without `leaves`, which `tree_nodes` sets
  /// tasks tried by the judge's search over all placements, where `exact` searches too; 0: none
  std::int64_t search_steps = 2'000'000;
  CheckpointOptions checkpoint;  ///< the plan does not depend on it
};

/// @throws InputError naming the first option that is out of the range of its row. Pure.
void validate(const PlanOptions& options);

/// Reads the files: rank 0 reads, all ranks parse the jobs in blocks of lines. Every rank gets the
/// jobs at home there (coordinator::JobRecords) and the shared parts of the instance; names are on
/// rank 0. All ranks return or all throw.
/// @param block_bytes  of the jobs' text that a thread parses at a time; by default as io's own
///                     reader does
model::Instance load_instance(const comm::Communicator& comm, const Input& input,
                              std::size_t block_bytes);
model::Instance load_instance(const comm::Communicator& comm, const Input& input);

/// Refuses values for which no bound can be computed in 128 bits: InputError on all ranks with the
/// line of the job of largest value. Collective.
void expect_countable(const comm::Communicator& comm, const model::InstanceView& instance,
                      model::Objective objective, const coordinator::JobRecords& jobs,
                      const std::string& jobs_path);

/// Refuses more priorities than a plan by priority has classes: InputError on all ranks with the
/// line of the first job of the first priority beyond. Collective.
void expect_few_priorities(const comm::Communicator& comm, const model::InstanceView& instance,
                           const coordinator::JobRecords& jobs, const std::string& jobs_path);

/// Computes a certified plan of an instance, by all ranks together. Each rank has the placements
/// and unplaced jobs of its home jobs; rank 0 has everything else.
///
/// Collective. Equal instance, options and seed give an equal plan, bit for bit, on any number of
/// ranks and threads, unless `stop` ended a stage early on some rank (then `reproducible` is
/// false).
///
/// @param jobs  owner of the records that `instance` refers to; of this communicator
/// @param stop  ends long stages early; the plan so far is then certified
/// @pre a PetscSession exists (std::logic_error)
/// @throws InputError where `validate` does
model::Plan plan_distributed(const comm::Communicator& comm, const model::InstanceView& instance,
                             const PlanOptions& options, report::ProgressTable& progress,
                             coordinator::JobRecords& jobs, const StopToken& stop = {});

/// Gathers the placements and unplaced jobs of a plan in parts on rank 0; the other ranks keep
/// none. Collective.
void gather_plan(const comm::Communicator& comm, model::Plan& plan);

/// Number of unplaced jobs of a plan in parts by reason; on rank 0, empty elsewhere. Collective.
std::map<std::string, std::int64_t> waiting_by_reason(const comm::Communicator& comm,
                                                      const model::Plan& plan);

/// `plan_distributed` where every rank has all of the instance; the plan is complete on rank 0.
/// @throws std::logic_error for an instance in parts, as `load_instance` makes on several ranks
model::Plan plan_cluster(const comm::Communicator& comm, const model::InstanceView& instance,
                         const PlanOptions& options, report::ProgressTable& progress,
                         const StopToken& stop = {});

}  // namespace berth::pipeline
