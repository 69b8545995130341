// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning_context.hpp"

#include <vector>

#include "berth/base/stop.hpp"
#include "berth/certify/priority_classes.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/plan.hpp"
#include "berth/pipeline/plan_cluster.hpp"

namespace berth::pipeline {

/// Sums by class of a placement of all ranks' home jobs, on all ranks. Collective.
certify::ClassTable class_table(const comm::Communicator& comm, const model::InstanceView& instance,
                                model::Objective objective, std::span<const JobId> home,
                                const model::Placement& placement);

/// A class with the proof of its bound, and the prices of GPUs that the proof began with.
struct ProvedClass {
  model::PriorityClass proved;
  std::vector<double> prices;  ///< by PoolId, in values of the class
};

/// Proves a bound for each class of a plan (certify/priority_classes.hpp): prices of the relaxation
/// at weights 2^m of the classes above, m chosen by descent, as the bound is convex in the weights.
/// Collective; the result counts on rank 0. About four relaxations per class and class above.
/// @param context    whose options have no checkpoints
/// @param placement  of the jobs at home on this rank
std::vector<ProvedClass> prove_classes(const PlanningContext& context,
                                       coordinator::JobRecords& jobs,
                                       const model::Placement& placement);

}  // namespace berth::pipeline
