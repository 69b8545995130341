// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "instance_builder.hpp"

#include <vector>

#include "berth/solver/shard.hpp"

namespace berth::test {

/// A shard of all machines of an instance, which must stay where it is.
struct WholeShard {
  planner_model::Valuation valuation;
  planner_model::Pools pools;
  planner_model::CouplingLimits limits;
  solver::Shard shard;

  explicit WholeShard(const InstanceBuilder& plan, bool limited = false)
      : valuation(plan.value()),
        pools(plan.pools()),
        limits(plan.instance, model::Objective::value),
        shard(ShardId(0), valuation, pools, plan.machines, {},
              {.limits = limited ? &limits : nullptr}) {}
  WholeShard(const WholeShard&) = delete;
  WholeShard& operator=(const WholeShard&) = delete;
};

/// A job of whole GPUs on the first devices of a machine.
inline model::JobPlacement on(JobId job, std::size_t machine, std::uint64_t devices) {
  return {.job = job, .tasks = {{MachineId(machine), 0, devices, 1000}}};
}

/// One rack with machines of 4 GPUs.
inline InstanceBuilder one_rack(int machines) {
  InstanceBuilder plan({"A"});
  plan.rack(plan.pod());
  plan.add_machines(machines, 0, 4);
  return plan;
}

}  // namespace berth::test
