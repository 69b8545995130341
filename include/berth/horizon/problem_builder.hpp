// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "berth/horizon/problem.hpp"

namespace berth::horizon {

/// Fills the flat tables of a Problem. Pools first, then jobs.
class ProblemBuilder {
 public:
  explicit ProblemBuilder(Seconds now = 0) { problem_.now = now; }

  /// A pool of equal machines with prices of `curve`. Returns its id.
  PoolId add_pool(CurveId curve, std::int32_t machines, std::int32_t gpus_per_machine);
  /// More machines of the last pool.
  void add_machines(std::int32_t machines, std::int32_t gpus_per_machine);
  /// One more machine of the last pool; its pool is set.
  MachineId add_machine(const Machine& machine);
  /// @param devices  bit g: GPU g; those the machine does not have are ignored
  /// @param taken    resources of the machine that no job has then
  void add_outage(MachineId machine, Seconds from, Seconds to, std::uint64_t devices = ~0ULL,
                  const model::Resources& taken = {});
  void add_outage(const Outage& outage);  ///< the same, with all that it has
  PoolSetId add_pool_set(std::span<const PoolId> pools);

  /// Begins a job; the options that follow belong to it.
  JobId add_job(Seconds release, bool required = true, Seconds deadline = kNever);
  IndexRange add_cost(std::span<const CostPiece> pieces);
  /// One option of the last job. @pre cost from add_cost
  void add_option(PoolSetId pools, Seconds duration, std::span<const TaskGroup> tasks,
                  IndexRange cost);
  /// Bounds the last option: its domain, and the quotas it counts for.
  void restrict_option(model::Level domain, std::span<const std::int32_t> quotas);
  /// Spreads the tasks of the last option.
  void spread_option(const TaskSpread& spread);
  /// What the tasks of the last option send over uplinks.
  void connect_option(const Traffic& traffic);
  /// Licenses that the last option takes.
  void license_option(std::span<const LicenseUse> uses);
  /// Licenses of one kind that jobs may take at a time. Returns its index.
  std::int32_t add_license(std::vector<CapacityStep> steps);
  /// A limit of a rack or pod. Free GPUs of the machines with it as PlaceLimitIds::spare are added
  /// to the steps of such a limit. Returns its index.
  std::int32_t add_place_limit(std::vector<CapacityStep> steps);
  /// What jobs set and avoid on machines, by TaskGroup::neighbours.
  void add_neighbours(std::vector<Neighbours> neighbours);
  /// Budgets that the last option counts for.
  void charge_option(std::span<const std::int32_t> budgets);
  /// GPU-seconds that jobs may use before `end`, which all budgets share. Returns its index.
  std::int32_t add_budget(std::int64_t gpu_seconds, Seconds end);
  /// GPU thousandths that jobs of a quota may use at a time. Returns its index.
  std::int32_t add_quota(std::vector<CapacityStep> milli);

  /// The job starts no earlier than `after` ends. Both have been added.
  void add_dependency(JobId job, JobId after);

  /// The problem with the pools' capacities; a job is released no earlier than the jobs it waits
  /// for can end. O(outages log outages + the rest).
  Problem build();

 private:
  Problem problem_;
};

/// The sums of `first` and the changes until each time; the first step is at `now`.
std::vector<CapacityStep> steps_from(Seconds now, Gpus first,
                                     const std::map<Seconds, Gpus>& changes);

/// w (C - release): weighted flow time.
CostPiece flow_cost(Seconds release, double weight);

}  // namespace berth::horizon
