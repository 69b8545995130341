// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan_flags.hpp"

#include "berth/base/error.hpp"
#include "berth/base/stop.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/report/progress.hpp"

namespace berth::apps {

/// `berth plan --policy`: what the policy does, written as an ordinary plan with the bound of
/// Berth's own plan. On rank 0; the other ranks wait. Collective.
/// @throws InputError: a policy that makes no plan, and what it lacks
ExitCode run_plan_policy(const comm::Communicator& comm, const PlanFlags& flags,
                         report::ProgressTable& progress, const StopToken& stop);

}  // namespace berth::apps
