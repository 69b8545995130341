// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/workload.hpp"
#include "berth/planner_model/room.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::solver {

/// Index of a GPU type in tables of values: 0 is for machines without GPUs.
inline std::size_t slot_of(GpuTypeId type) { return type.valid() ? type.index() + 1 : 0; }

/// Jobs of one shape that the packing counts instead of distinguishing.
struct JobType {
  ShapeId shape_id;
  model::Shape shape;
  std::vector<double> value;  ///< by slot, scaled, reward included; <= 0 where not allowed
  double reward = 0.0;        ///< part of `value` that forces a required job in; scaled
  std::vector<JobId> jobs;    ///< by descending value, ties by precedence
};

/// Machines with equal room; after rounding, with at least this room each.
struct BinType {
  std::size_t slot = 0;             ///< slot_of the machines' GPU type
  int whole = 0;                    ///< devices entirely free
  std::vector<int> partial;         ///< free thousandths of opened devices, descending, > 0
  model::Resources room = {};       ///< free amounts, kNoLimit where unlimited
  std::int32_t slices = 0;          ///< slices of each device, as in MachineClass
  std::vector<MachineId> machines;  ///< ascending

  [[nodiscard]] std::int64_t milli() const;  ///< free thousandths over all devices
  /// Thousandths that a share takes of a device here; 0 if the shape has no share.
  [[nodiscard]] std::int32_t share(const model::Shape& s) const {
    return model::share_taken(s.gpu_milli, slices);
  }
};

/// The packing problem in counts: job types and bin types instead of jobs and machines.
struct PackingProblem {
  std::vector<JobType> types;
  std::vector<BinType> bins;
  bool aggregated = false;  ///< some type holds jobs of unequal value
  double unit = 1.0;        ///< objective per scaled unit; the largest value per GPU is 1 scaled
};

/// True when one task of the type fits an empty machine of the bin type and has value there.
bool fits(const JobType& type, const BinType& bin);

/// Groups the machines into bin types. O(machines log machines).
/// @param aim  as PackOptions::bin_types: amounts are rounded down to reach that number
std::vector<BinType> bin_types(const model::Cluster& cluster, const planner_model::Room& room,
                               std::span<const MachineId> machines, int aim);

/// Groups the jobs that are required or have value on some bin type into job types, and sets
/// `problem.unit`. O(jobs log jobs x GPU types).
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
