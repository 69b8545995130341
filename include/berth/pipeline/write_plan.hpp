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
/// homes, so that it never has all of either.
///
/// Each piece of the text is read back and judged (certify::PlanCheck, what `berth check` is made
/// of) before the file replaces an earlier one; the bound is computed anew by all ranks together.
/// Collective. @throws comm::AgreedError (internal error) that names the first fault; nothing is
/// replaced then
void write_plan(const comm::Communicator& comm, const std::string& path,
                const model::Instance& instance, const model::Plan& plan,
                coordinator::JobRecords& jobs);

}  // namespace berth::pipeline
