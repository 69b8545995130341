// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/planner_model/value.hpp"

namespace berth::solver::bounding {

/// Value of a job on one GPU type by place; minus infinity where it may not be placed.
struct PlaceValues {
  /// whole job in one rack: its home, one of the home pod, any other
  double home_rack, home_pod, far;
  double wide_home_pod, wide_far;  ///< over racks of one pod
  double cluster;                  ///< over pods
};

/// Placement of a whole job on one GPU type: in a rack, over racks of a pod, or over pods.
struct Spot {
  GpuTypeId type;
  PodId pod;    ///< also that of the rack; invalid: over pods
  RackId rack;  ///< invalid: over racks
};

/// A domain of one GPU type; `gpus` in units of JobTable::unit. Its spot is that of the jobs that
/// fit in no smaller domain.
struct RackCapacity {
  RackId rack;
  std::int32_t gpus = 0;
  std::uint32_t spot = 0;
};
struct PodCapacity {
  PodId pod;
  std::int32_t gpus = 0;
  std::vector<RackCapacity> racks;
  std::uint32_t spot = 0;
};
struct TypeCapacity {
  GpuTypeId type;
  std::int32_t gpus = 0;
  std::uint32_t spot = 0;
  std::int32_t largest_rack = 0, largest_pod = 0;
  std::vector<PodCapacity> pods;
  std::vector<PlaceValues> place_values;  ///< by position of the job
};

/// Jobs and places as input of the knapsacks. Positions are into the list of jobs.
struct JobTable {
  std::int32_t unit = 1;                ///< GPUs: a common divisor of all sizes
  std::vector<std::int32_t> size;       ///< units
  std::vector<std::uint32_t> size_row;  ///< index into `sizes`
  std::vector<std::int32_t> sizes;      ///< distinct, ascending
  std::vector<RackId> home_rack;
  std::vector<PodId> home_pod;  ///< also that of a home rack; invalid without a home
  std::vector<std::vector<std::uint32_t>> home_jobs;  ///< by PodId: positions of jobs at home there
  std::vector<std::uint32_t> max_home_jobs;           ///< by size: largest number of one pod's jobs
  std::vector<TypeCapacity> types;
  std::vector<Spot> spots;  ///< by number

  /// Value of the job at the spot.
  [[nodiscard]] double value_at(std::uint32_t job, std::uint32_t spot) const;
};

/// The jobs, and the GPUs that immovable content leaves free.
/// @param unit  divides the GPUs of all jobs; capacities are rounded down to it
JobTable make_job_table(const planner_model::Valuation& valuation, std::span<const JobId> jobs,
                        std::int32_t unit = 1);

}  // namespace berth::solver::bounding
