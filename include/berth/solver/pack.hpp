// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/infinity.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/solver/occupancy.hpp"
#include "berth/solver/run_context.hpp"

namespace berth::solver {

/// Options of the pattern LP. Defaults without a decision are chosen, not tuned.
struct PackOptions {
  double relaxation_share = 0.1;     ///< part of the gap for the relaxation, in (0, 1]; decision 11
  int pricing_rounds = 150;          ///< most rounds of column generation
  int neighbourhoods = 24;           ///< most rounds of the large neighbourhood search
  int neighbourhood_machines = 100;  ///< machines freed in each of them
  int job_types = 300;  ///< aim: with more, jobs of one shape and unequal value share a type
  int bin_types = 64;   ///< aim: with more, free amounts of resources are rounded down
  /// Work limit, in contents of machines compared or computation that takes as long: decision 22.
  std::int64_t work = 1'000'000'000;
};

/// Price of a task of the shape on a machine of this GPU type (invalid: without GPUs), in units of
/// the objective; 0 for a pair that is not listed.
struct TaskPrice {
  ShapeId shape;
  GpuTypeId gpu_type;
  double price = 0.0;  ///< > 0
};

struct PackStats {
  int job_types = 0;
  int bin_types = 0;
  int columns = 0;
  int rounds = 0;      ///< of column generation, for the relaxation only
  int iterations = 0;  ///< of the interior point method, for the relaxation only
  int dive_rounds = 0;
  std::int64_t work = 0;  ///< contents of machines compared
  int neighbourhoods = 0;
  double start_seconds = 0.0;
  double master_seconds = 0.0;  ///< of the relaxation
  double pricing_seconds = 0.0;
  double dive_seconds = 0.0;
  double reoptimisation_seconds = 0.0;
  double neighbourhood_seconds = 0.0;
  double seconds = 0.0;  ///< total
};

struct PackResult {
  double value = 0.0;       ///< sum over the jobs that were placed
  double relaxation = 0.0;  ///< value of the linear relaxation
  double bound = 0.0;       ///< upper bound on the value of these jobs on these machines, over all
                            ///< placements with at least the required jobs placed here
  std::vector<TaskPrice> prices;  ///< ascending (shape, gpu type); prove `bound` but for the effect
                                  ///< of resources beside the GPUs
  /// By GPU type: least earnings of one GPU of an empty machine at these prices, in units of the
  /// objective; infinity where no machine of the type was empty.
  std::vector<double> gpu_worth;
  PackStats stats;
};

/// Packs jobs whose value depends on the GPU type only onto the machines of the
/// occupancy by the pattern LP (Gilmore and Gomory 1961), so that the total value is close to its
/// maximum. In the relaxation each task of a gang is worth its part of the job's value, which has
/// the same optimum as a variable per gang of one shape; whole gangs then get the places for tasks
/// that the rounded patterns have, and other places become free. Jobs merge into job types,
/// machines into bin types; a column is one feasible content of a machine. Exact dynamic
/// programming prices columns and an interior point method solves the master; then follow a vertex,
/// a dive, reoptimisation of single machines and a large neighbourhood search. Required jobs are
/// placed before all others. Remaining room is filled with the jobs that are left, also with those
/// of value 0.
///
/// @pre every job has a value that depends on the GPU type only
///      (Valuation::place_independent); none is placed; they are distinct; a PetscSession exists
/// @param run  gap: stops when (bound - value) / bound is at most this; seed: of the
///             neighbourhoods' draws; a stop returns the solution so far
/// @param incumbent  value of a known placement of these jobs. If it is within the gap of
///                   the bound, no job is placed, and the result has bound and prices only
/// The result does not depend on the number of threads. Time depends on job types x bin types x
/// GPUs of a machine, little on the numbers of jobs and machines.
PackResult pack(Occupancy& occupancy, std::span<const JobId> jobs, const PackOptions& options = {},
                const RunContext& run = {}, double incumbent = -kInfinity);

}  // namespace berth::solver
