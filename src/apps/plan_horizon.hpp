// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan_flags.hpp"

#include "berth/base/error.hpp"
#include "berth/base/stop.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/report/progress.hpp"

namespace berth::apps {

/// Plans in time on rank 0, writes the plan and prints its figures; the other ranks wait.
/// Collective.
ExitCode run_plan_horizon(const comm::Communicator& comm, const PlanFlags& flags,
                          report::ProgressTable& progress, const StopToken& stop);

}  // namespace berth::apps
