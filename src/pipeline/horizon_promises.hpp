// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon_problem.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include "berth/horizon/plan.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"

namespace berth::pipeline {

/// The start and the tasks that an earlier plan gave a job which still waits or runs now.
struct PromisedStart {
  JobId job;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::vector<model::TaskPlacement> tasks;  ///< empty when the cluster lacks a machine of theirs
};

/// What an earlier plan promised jobs of the instance, ascending JobId. O(plan + jobs + machines).
std::vector<PromisedStart> promised_starts(const model::InstanceView& instance,
                                           const model::RawHorizonPlan& earlier);

/// The promises that can be kept as they were made, as starts of the problem's jobs.
horizon::Plan starts_to_keep(const HorizonProblem& translated,
                             const std::vector<PromisedStart>& promises);

/// The problem in which a later start than promised costs more.
/// @param price  of a promise at its start, as a multiple of the job's value (flow: of weight x
///               horizon), less by the share of the horizon until then; none: more than all jobs
horizon::Problem with_promises(const HorizonProblem& translated, const model::Horizon& horizon,
                               const std::vector<PromisedStart>& promises,
                               std::optional<double> price);

/// Which promises the plan keeps, and for what it breaks the others.
std::vector<model::Promise> promises_of(const model::InstanceView& instance,
                                        const model::HorizonPlan& plan,
                                        const std::vector<PromisedStart>& promises);

}  // namespace berth::pipeline
