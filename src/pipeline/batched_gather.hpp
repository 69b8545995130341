// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/plan.hpp"
#include "berth/model/workload.hpp"

namespace berth::pipeline {

/// Rank 0 goes through jobs in an order of its own (its list counts), a few thousand at a time:
/// `see` runs on every rank with the same batch of them. Collective.
void for_each_batch(const comm::Communicator& comm, std::span<const JobId> order,
                    const std::function<void(const std::vector<JobId>&)>& see);

/// All jobs, of a workload in parts too: the order of the files.
std::vector<JobId> all_jobs(const model::Workload& workload);

/// Where the jobs of the batch lie, on rank 0 and in the batch's order; empty elsewhere.
/// Collective. @param mine  of the jobs at home on this rank, ascending
model::Placement gather_batch(const comm::Communicator& comm, std::span<const JobId> batch,
                              const model::Placement& mine);

/// The same of jobs that wait. @param batch  ascending
std::vector<model::UnplacedJob> gather_batch(const comm::Communicator& comm,
                                             std::span<const JobId> batch,
                                             std::span<const model::UnplacedJob> mine);

/// The parts of a placement to rank 0, ascending; empty elsewhere. Collective.
model::Placement gather_placement(const comm::Communicator& comm, model::Placement mine);

/// The same of all jobs that wait.
std::vector<model::UnplacedJob> gather_waiting(const comm::Communicator& comm,
                                               std::span<const model::UnplacedJob> mine);

}  // namespace berth::pipeline
