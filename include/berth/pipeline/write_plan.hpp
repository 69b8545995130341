// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/comm/communicator.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/plan.hpp"

namespace berth::pipeline {

/// Writes a plan in parts (`plan_distributed`) as the text that io::write_plan makes of the whole
/// plan. Rank 0 writes some thousand jobs at a time, whose records and placements come from their
/// homes, so that it never holds all of either.
///
/// Reads each piece of the text back and judges it (certify::PlanCheck, which `berth check` uses)
/// before the file replaces an earlier one; all ranks together recompute the bound. Collective.
/// @throws comm::AgreedError (internal error) that names the first fault; the earlier file then
/// stays
void write_plan(const comm::Communicator& comm, const std::string& path,
                const model::InstanceView& instance, const model::Plan& plan,
                coordinator::JobRecords& jobs);

}  // namespace berth::pipeline
