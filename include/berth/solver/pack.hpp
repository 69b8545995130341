// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/room.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/run_context.hpp"

namespace berth::solver {

/// What shares a machine: packs single-task jobs, whose value depends on the GPU type alone.
struct PackOptions {
  double relaxation_share = 0.1;     ///< of the gap, for the linear relaxation; in (0, 1]
  int pricing_rounds = 150;          ///< of column generation, at most
  int neighbourhoods = 24;           ///< local searches after the dive, at most
  int neighbourhood_machines = 100;  ///< machines freed in each of them
  int job_types = 300;  ///< aim: beyond it, jobs of one shape and unequal value share a type
  int bin_types = 64;   ///< aim: free CPU and memory are rounded down above it
  /// Contents of machines compared at most, about, or as much else.
  std::int64_t work = 1'000'000'000;
};

/// Price a task of the shape pays on a machine of this GPU type (invalid: without GPUs), in units
/// of the objective; 0 for a pair that is not listed.
struct TaskPrice {
  ShapeId shape;
  GpuTypeId gpu_type;
  double price = 0.0;  ///< > 0
};

struct PackStats {
  int job_types = 0;
  int bin_types = 0;
  int columns = 0;
  int rounds = 0;      ///< of column generation, relaxation only
  int iterations = 0;  ///< of the interior point, relaxation only
  int dive_rounds = 0;
  std::int64_t work = 0;  ///< contents of machines compared
  int neighbourhoods = 0;
  double start_seconds = 0.0;
  double master_seconds = 0.0;  ///< of the relaxation
  double pricing_seconds = 0.0;
  double dive_seconds = 0.0;
  double reoptimisation_seconds = 0.0;
  double neighbourhood_seconds = 0.0;
  double seconds = 0.0;  ///< all of it
};

struct PackResult {
  model::Placement placed;  ///< ascending JobId; only the jobs placed by this call
  double value = 0.0;       ///< of `placed`
  double relaxation = 0.0;  ///< value of the linear relaxation
  double bound = 0.0;       ///< no choice of these jobs on these machines that places at least the
                            ///< required jobs placed here is worth more
  std::vector<TaskPrice> prices;  ///< ascending (shape, gpu type); prove `bound` up to the part
                                  ///< CPU and memory play beside the GPUs
  /// What a GPU of an empty machine earns at these prices where it earns least, by GPU type, in
  /// units of the objective; infinity where no machine of the type was empty.
  std::vector<double> gpu_worth;
  PackStats stats;
};

/// Places jobs on machines so that the total value is close to the largest possible, and edits
/// `room`. The pattern relaxation: jobs merge into types, machines into bin types; a column is one
/// feasible content of a machine; columns come from an exact pricing by dynamic programming, the
/// master is solved by an interior point; then a vertex, a dive, single-machine reoptimisation and
/// a large neighbourhood search (Gilmore and Gomory 1961; docs/decisions). Required jobs go in
/// before all others. Jobs worth nothing are put into what is left.
///
/// @pre every job has one task and no home that matters (Valuation::place_independent); no job is
/// placed;
///      jobs and machines are distinct; a PetscSession lives
/// @param run  its gap: stop when (bound - value) / bound is this small; its seed: of the
///             neighbourhoods' draws; after its stop what is solved so far is handed out. Its
///             limits are not looked at
/// Same result for any number of threads. Time depends on job types x bin types x GPUs a
/// machine, hardly on the number of jobs or machines.
PackResult pack(const planner_model::Valuation& valuation, planner_model::Room& room,
                std::span<const MachineId> machines, std::span<const JobId> jobs,
                const PackOptions& options = {}, const RunContext& run = {});

}  // namespace berth::solver
