// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon_problem.hpp"

#include "berth/base/stop.hpp"
#include "berth/horizon/plan.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"

namespace berth::pipeline {

/// Starts from plans of single moments, which know the contents of machines: the jobs that may
/// start now, by what they gain a second, are planned as `berth plan` without a horizon plans them,
/// on one rank, beside what runs. Where all jobs take equally long, those that are left are planned
/// once more when these end, for at most eight moments. Dependencies of jobs and changes of the
/// cluster within a job's time are not seen: such starts may not be free.
/// @pre a PetscSession exists; main thread
horizon::Plan plan_moments(const model::InstanceView& instance, const model::Horizon& horizon,
                           const HorizonProblem& translated, const StopToken& stop);

}  // namespace berth::pipeline
