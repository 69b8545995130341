// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/comm/communicator.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/plan.hpp"

namespace berth::pipeline {

/// Writes a plan in parts (`plan_distributed`): the text io::write_plan makes of the whole, in the
/// same way. Rank 0 writes some thousand jobs at a time, whose records and places come from their
/// homes, so that it never has all of either. Collective.
void write_plan(const comm::Communicator& comm, const std::string& path,
                const model::Instance& instance, const model::Plan& plan,
                const coordinator::JobRecords& jobs);

}  // namespace berth::pipeline
