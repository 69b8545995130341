// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "read_placement.hpp"

#include <vector>

#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"

namespace berth::apps {

/// Prints of a plan in time the start and what it waits for; of a job that does not start, the
/// changes that would let it.
void explain_in_time(const model::Instance& instance, const ReadPlan& plan,
                     const model::RawHorizonPlan& in_time, const std::vector<JobId>& jobs);

/// All that the plan starts, in order of start.
std::vector<JobId> in_order_of_start(const model::Instance& instance,
                                     const model::RawHorizonPlan& in_time);

}  // namespace berth::apps
