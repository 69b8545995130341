// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/base/stop.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/plan.hpp"
#include "berth/pipeline/plan_cluster.hpp"
#include "berth/report/progress.hpp"

namespace berth::pipeline {

/// `plan_distributed` in order of priority: plans class by class, the highest first. The jobs
/// placed so far may move to places of at least the same value, so that no class loses anything to
/// one below; at the end `solver::fill_by_priority`. Then proves a bound for each class. Rank 0 has
/// all records while it plans; it divides the jobs among the ranks for each class. Cost: for each
/// class a plan, and about four relaxations for each class above.
model::Plan plan_by_priority(const comm::Communicator& comm, const model::InstanceView& instance,
                             const PlanOptions& options, report::ProgressTable& progress,
                             coordinator::JobRecords& jobs, const StopToken& stop);

}  // namespace berth::pipeline
