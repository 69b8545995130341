// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/plan.hpp"
#include "berth/model/workload.hpp"

namespace berth::pipeline {

/// Visits jobs in the order of rank 0's list, a few thousand at a time: calls `see` on every rank
/// with each batch. Collective.
void for_each_batch(const comm::Communicator& comm, std::span<const JobId> order,
                    const std::function<void(const std::vector<JobId>&)>& see);

/// All jobs, also of a workload in parts, in file order.
std::vector<JobId> all_jobs(const model::WorkloadView& workload);

/// Placements of the batch's jobs, on rank 0 in the batch's order; empty elsewhere. Collective.
/// @param mine  of the jobs at home on this rank, ascending
model::Placement gather_batch(const comm::Communicator& comm, std::span<const JobId> batch,
                              const model::Placement& mine);

/// The unplaced jobs of the batch. @param batch  ascending
std::vector<model::UnplacedJob> gather_batch(const comm::Communicator& comm,
                                             std::span<const JobId> batch,
                                             std::span<const model::UnplacedJob> mine);

/// Gathers the parts of a placement on rank 0, ascending; empty elsewhere. Collective.
model::Placement gather_placement(const comm::Communicator& comm, model::Placement mine);

/// Sends each placement, from whichever rank has it, to the home of its job. Collective.
/// @return of the jobs at home on this rank, ascending
model::Placement to_homes(const comm::Communicator& comm, const coordinator::JobRecords& records,
                          const model::Placement& mine);

/// Gathers all unplaced jobs on rank 0, ascending; empty elsewhere. Collective.
std::vector<model::UnplacedJob> gather_waiting(const comm::Communicator& comm,
                                               std::span<const model::UnplacedJob> mine);

}  // namespace berth::pipeline
