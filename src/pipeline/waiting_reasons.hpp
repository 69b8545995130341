// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/comm/communicator.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/plan.hpp"
#include "berth/planner_model/coupling_limits.hpp"

namespace berth::pipeline {

/// The unplaced jobs of this rank, ascending, with the reason in words: a GPU type that no machine
/// has, a task that no machine holds, a gang larger than every domain that it may use, or jobs of
/// larger value. Collective.
/// @param jobs       of this rank, ascending; over all ranks every planned job once
/// @param placement  of these jobs
std::vector<model::UnplacedJob> waiting(const comm::Communicator& comm,
                                        const model::InstanceView& instance,
                                        const planner_model::CouplingLimits& limits,
                                        std::span<const JobId> jobs,
                                        const model::Placement& placement);

}  // namespace berth::pipeline
