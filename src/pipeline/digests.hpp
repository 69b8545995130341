// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/comm/communicator.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"

namespace berth::pipeline {

/// model::instance_digest and model::plan_digest of an instance and plan in parts: rank 0 adds the
/// jobs in order, gathered from their homes in batches, and broadcasts the digest. Collective.
std::string instance_digest(const comm::Communicator& comm, const model::InstanceView& instance,
                            coordinator::JobRecords& jobs);

/// @param mine  of the jobs at home on this rank
std::string plan_digest(const comm::Communicator& comm, const model::InstanceView& instance,
                        const model::Placement& mine);

}  // namespace berth::pipeline
