// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"

namespace berth::planner_model {

/// Machines of one class in one rack or in one pod: the unit that has a price.
struct Pool {
  PodId pod;
  RackId rack;  ///< invalid when pools are by pod
  ClassId machine_class;
  GpuTypeId gpu_type;  ///< of the class; invalid for CPU-only machines
  std::int32_t machines = 0;
  std::int64_t gpu_milli = 0;  ///< capacity of all its machines
};

/// All pools of a cluster, in order of first machine.
struct Pools {
  model::Level level = model::Level::pod;  ///< rack or pod
  std::vector<Pool> pools;                 ///< by PoolId
  std::vector<PoolId> of_machine;          ///< by MachineId less `first_machine`
  MachineId first_machine = MachineId(0);  ///< the lowest one that has a pool here

  [[nodiscard]] std::size_t size() const { return pools.size(); }
  /// Invalid for machines without a pool here. @pre not below the first or above the last that has
  [[nodiscard]] PoolId pool_of(MachineId m) const {
    return of_machine[m.index() - first_machine.index()];
  }
};

/// Level at which pools are formed. Racks if a job distinguishes racks (a home rack, or a width
/// factor or domain limit between machine and pod on a gang of several tasks, or rules that spread
/// it over racks), or if rings can fill the uplink of some rack (one ring end for each of its
/// GPUs); otherwise pods. A function of the instance and the objective only. O(jobs).
model::Level pool_level(const model::InstanceView& instance, model::Objective objective);

/// All pools of the cluster at this level. O(machines).
Pools make_pools(const model::Cluster& cluster, model::Level level);

/// The pools of some machines, in the order of `all`, with the capacity of those machines alone;
/// `pool_of` is valid for these machines only. O(pools + difference of the machine ids).
struct PoolSubset {
  Pools pools;
  std::vector<PoolId> in_all;  ///< by PoolId of the part
};
PoolSubset pool_subset(const model::Cluster& cluster, const Pools& all,
                       std::span<const MachineId> machines);

}  // namespace berth::planner_model
