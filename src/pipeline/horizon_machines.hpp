// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon_place_limits.hpp"
#include "horizon_problem.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "berth/horizon/problem_builder.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"

namespace berth::pipeline {

/// Machines of an instance as pools in time: a pool for each GPU type, one for the machines without
/// GPUs, and pools of reserved machines, open only while they are reserved. Running jobs, windows
/// and machines that are not up are outages.
class HorizonMachines {
 public:
  struct Pool {
    PoolId pool;
    GpuTypeId type;                           ///< invalid: machines without GPUs
    const model::Window* reserved = nullptr;  ///< for its jobs and queues only
  };

  /// All must outlive this.
  HorizonMachines(const model::InstanceView& instance, const model::Horizon& horizon,
                  const HorizonPlaceLimits& limits, horizon::ProblemBuilder& builder,
                  HorizonProblem& result)
      : instance_(instance),
        horizon_(horizon),
        limits_(limits),
        builder_(builder),
        result_(result) {}

  /// Adds pools, machines and outages. Once.
  void add();
  /// Those of types first, ascending.
  [[nodiscard]] std::span<const Pool> pools() const { return pools_; }

 private:
  /// A reserved machine in its pool.
  struct Twin {
    MachineId position;
    std::vector<const model::Window*> open;  ///< reservations in which it is open
  };

  void add_pools();
  void add_pool(horizon::CurveId curve, GpuTypeId type, std::span<const MachineId> machines);
  MachineId add_machine(MachineId m);
  [[nodiscard]] std::vector<std::vector<const model::Window*>> reservations() const;
  void add_reserved(const std::vector<const model::Window*>& windows);
  void add_reserved_machine(MachineId machine, const std::vector<const model::Window*>& open);
  void close_one(MachineId position, MachineId machine, horizon::Seconds from, horizon::Seconds to);
  void close(MachineId machine, horizon::Seconds from, horizon::Seconds to,
             const model::Window* window);
  /// @param outage  of the cluster's machine, from now on
  void occupy(horizon::Outage outage);
  void close_machines();
  [[nodiscard]] horizon::Seconds until_of(JobId job) const;
  [[nodiscard]] std::int32_t rules_of(JobId job) const;

  const model::InstanceView& instance_;
  const model::Horizon& horizon_;
  const HorizonPlaceLimits& limits_;
  horizon::ProblemBuilder& builder_;
  HorizonProblem& result_;
  std::vector<Pool> pools_;
  std::vector<MachineId> position_;               ///< by the cluster's machine
  std::map<MachineId, std::vector<Twin>> twins_;  ///< by the cluster's machine
};

}  // namespace berth::pipeline
