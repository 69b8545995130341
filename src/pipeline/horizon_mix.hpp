// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon_problem.hpp"

#include "berth/base/strong_id.hpp"
#include "berth/horizon/problem.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"
#include "berth/solver/job_group.hpp"

namespace berth::pipeline {

/// GPU type of the pools of an option.
GpuTypeId pool_type(const HorizonProblem& translated, const horizon::Option& option);

/// What the option gains per second that it takes, when it starts at `start`.
double gain_rate(const horizon::Problem& problem, const horizon::Job& job,
                 const horizon::Option& option, horizon::Seconds start);

/// The mix of jobs that is planned at a time, one moment's instance whose prices of tasks are good
/// prices in time. For sums of costs: every so many-th of equal jobs, worth its gain. For the
/// makespan: the work of all jobs by shape. O(jobs log jobs)
solver::JobCounts mix_in_time(const model::InstanceView& instance, const model::Horizon& horizon,
                              const HorizonProblem& translated);

}  // namespace berth::pipeline
