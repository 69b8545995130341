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

/// Place of a GPU type in a table of values: 0 for machines without GPUs.
inline std::size_t slot_of(GpuTypeId type) { return type.valid() ? type.index() + 1 : 0; }

/// Jobs that the packing cannot, or need not, tell apart.
struct JobType {
  ShapeId shape_id;
  model::Shape shape;
  std::vector<double> value;  ///< by slot, scaled, reward included; <= 0 where it is not allowed
  double reward = 0.0;        ///< part of `value` that only drives a required job in
  std::vector<JobId> jobs;    ///< the best first, ties by precedence
};

/// Machines with the same room (or at least this room each).
struct BinType {
  std::size_t slot = 0;
  int whole = 0;                    ///< devices entirely free
  std::vector<int> partial;         ///< free thousandths of opened devices, descending, > 0
  model::Resources room = {};       ///< or kNoLimit
  std::int32_t slices = 0;          ///< of each device, as in MachineClass
  std::vector<MachineId> machines;  ///< ascending

  [[nodiscard]] std::int64_t milli() const;  ///< free thousandths over all devices
  /// What a share takes of a device here; 0 without one.
  [[nodiscard]] std::int32_t share(const model::Shape& s) const {
    return model::share_taken(s.gpu_milli, slices);
  }
};

/// What is packed, counts instead of objects.
struct PackingProblem {
  std::vector<JobType> types;
  std::vector<BinType> bins;
  bool aggregated = false;  ///< some type holds jobs of unequal value
  double unit = 1.0;        ///< objective per scaled unit: the best value a GPU is 1
};

/// True when one task of the type fit an empty machine and is worth something there.
bool fits(const JobType& type, const BinType& bin);

/// Machines by bin type. `aim` as in PackOptions::bin_types. O(machines log machines).
std::vector<BinType> bin_types(const model::Cluster& cluster, const planner_model::Room& room,
                               std::span<const MachineId> machines, int aim);

/// Jobs worth something (or required) on one of the bin types, by type; also sets the unit.
/// O(jobs log jobs x GPU types).
void add_job_types(PackingProblem& problem, const planner_model::Valuation& valuation,
                   std::span<const JobId> jobs, int aim);

/// How much of the problem is still open: counts of jobs by type, of machines by bin type.
struct ResidualProblem {
  std::vector<std::int64_t> demand;
  std::vector<std::int64_t> supply;
};
ResidualProblem full_residual(const PackingProblem& problem);

}  // namespace berth::solver
