// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/horizon/problem.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"

namespace berth::pipeline {

/// An instance as a problem in time, with the names of its parts in the instance.
struct HorizonProblem {
  horizon::Problem problem;
  std::vector<JobId>
      jobs;  ///< by job of the problem: waiting ones, and running ones that must move
  std::vector<MachineId> machines;  ///< by machine of the problem
  std::vector<GpuTypeId> types;     ///< by price curve
};

/// Pools are GPU types, and the machines without GPUs. Running jobs stay where they are until they
/// end, but for those that must move (horizon_moves.hpp); machines that are not up take no job;
/// windows of both kinds close machines, but reserved ones are pools of their own for the jobs that
/// may use them. Quotas are limits at every moment, soft ones too. Jobs of value 0 are worth next
/// to nothing, so that they take what is left. O(machines + jobs x types).
HorizonProblem horizon_problem(const model::InstanceView& instance, const model::Horizon& horizon);

/// True when the reservation is for the job, or for its queue or one that this is in.
bool may_use(const model::InstanceView& instance, JobId job, const model::Window& reservation);

}  // namespace berth::pipeline
