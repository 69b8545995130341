// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/workload.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/bin_type.hpp"

namespace berth::solver {

/// Tasks of one shape that the packing counts instead of distinguishing. The relaxation places each
/// task of a gang alone, at its part of the value of the job.
struct JobType {
  ShapeId shape_id;
  model::Shape shape;
  std::vector<double> value;  ///< by slot, scaled, reward included; <= 0 where not allowed
  double reward = 0.0;        ///< part of `value` that forces a required job in; scaled
  /// One entry for each task, the tasks of a job together; by descending value of a task, ties by
  /// precedence.
  std::vector<JobId> jobs;
};

/// Part of a job's value that one task of the shape has: the parts of all tasks add up to 1. Tasks
/// have parts by their GPUs, tasks without GPUs small ones, so that the relaxation places them in
/// what the others leave.
double task_part(const model::WorkloadView& workload, JobId job, ShapeId shape);
/// Value of one task of the job on a GPU type (invalid: without GPUs), not scaled. A task without
/// GPUs beside others has its part of the job's largest value.
double task_value(const planner_model::Valuation& valuation, JobId job, ShapeId shape,
                  GpuTypeId type);

/// Job types above which machines filled one by one come first: they are nearly the optimum then,
/// and a relaxation of hundreds of rows takes seconds. Decision 37.
inline constexpr std::size_t kManyTypes = 100;

/// The packing problem in counts: job types and bin types instead of jobs and machines.
struct PackingProblem {
  std::vector<JobType> types;
  std::vector<BinType> bins;
  bool aggregated = false;  ///< some type holds jobs of unequal value
  double unit = 1.0;        ///< objective per scaled unit; the largest value per GPU is 1 scaled
  double clearing = 0.0;    ///< of more than kManyTypes families: clearing_price, scaled
};

/// True when one task of the type fits an empty machine of the bin type and has value there.
bool fits(const JobType& type, const BinType& bin);

/// Groups the tasks of the jobs that are required or have value on some bin type into job types,
/// and sets `problem.unit`. O(jobs log jobs x GPU types + tasks).
/// @param aim  as PackOptions::job_types: jobs of unequal value share a type to reach that number
void add_job_types(PackingProblem& problem, const planner_model::Valuation& valuation,
                   std::span<const JobId> jobs, int aim);

/// Residual problem: what no fixed pattern has taken.
struct ResidualProblem {
  std::vector<std::int64_t> demand;  ///< open jobs, by job type
  std::vector<std::int64_t> supply;  ///< machines without content, by bin type
};
ResidualProblem full_residual(const PackingProblem& problem);

}  // namespace berth::solver
