// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job_value.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include "berth/horizon/problem.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"

namespace berth::certify {

/// A way to run a job: null, with the tasks of its groups, or one configuration of an elastic job.
using Run = const model::Configuration*;

/// The ways to run a job that is decided about, at least one. A job that runs keeps its tasks.
std::vector<Run> runs_of(const model::WorkloadView& workload, const model::Job& job);

/// The configuration that a placement has the tasks of; null for a job that is not elastic or runs.
/// @pre the placement has the tasks of some way to run the job
Run run_of(const model::WorkloadView& workload, const model::JobPlacement& placed);

/// Sum of GPU thousandths over all tasks.
std::int64_t milli_of_run(const model::WorkloadView& workload, const model::Job& job, Run run);

/// True when the running job may not stay: it is not pinned, and a machine that it is on must be
/// empty before it ends. The plan decides about it as about a job that waits.
bool may_not_stay(const model::InstanceView& instance, const model::Horizon& horizon,
                  const model::Job& job);

/// True when the plan decides about the job: it waits, or may not stay.
bool is_decided(const model::InstanceView& instance, const model::Horizon& horizon,
                const model::Job& job);

/// Seconds that a run of the job takes on GPUs of `type` (invalid: without GPUs); empty when it
/// cannot run there: speed 0, or longer than its limit. A job that may not stay takes the restart
/// and what it has left from its last checkpoint on.
std::optional<std::int64_t> run_seconds(const model::InstanceView& instance,
                                        const model::Horizon& horizon, const model::Job& job,
                                        GpuTypeId type, Run run);

/// Value of the job when it completes in time. A job with a duration has its speed in that.
double value_in_time(const model::InstanceView& instance, const model::Job& job, Run run,
                     const PlacementExtent& extent);

/// Cost of completing, by time, of a run of `seconds`: -value x utility, or the flow time. The
/// first piece begins no later than `release`. For a value, that of a job that may not stay is
/// higher by its move cost and lower by its stop cost, which is lost otherwise.
std::vector<horizon::CostPiece> costs_in_time(const model::InstanceView& instance,
                                              const model::Horizon& horizon, const model::Job& job,
                                              double value, std::int64_t seconds,
                                              std::int64_t release);

/// Earliest second at which the job may start.
std::int64_t release_of(const model::InstanceView& instance, const model::Horizon& horizon,
                        const model::Job& job);

/// GPU types of the machines, ascending.
std::vector<GpuTypeId> types_of_machines(const model::Cluster& cluster);

/// The jobs that a plan in time decides about, with every option of each: a job takes GPUs of one
/// type, wherever they are. Devices that running jobs and others hold, machines that are not up and
/// maintenance are closed (jobs that may not stay hold nothing), as are reservations that no
/// waiting job may use; other reservations are left out, so the bound of this problem holds for the
/// instance. Where the prices have factors of shapes, rents and worths of machines are of them.
struct BoundProblem {
  horizon::Problem problem;
  std::vector<JobId> jobs;       ///< by horizon job
  std::vector<GpuTypeId> types;  ///< by price curve
  std::vector<QueueId> quotas;   ///< by quota
  std::vector<QueueId> budgets;  ///< by budget
};
/// @throws InputError when the factors are unusable
BoundProblem bound_problem(const model::InstanceView& instance, const model::Horizon& horizon,
                           const model::PriceCurves& prices);

/// Releases every job of the problem no earlier than the jobs that it waits for can end, and adds
/// the dependencies among jobs of the problem.
/// O((jobs + dependencies) log).
void release_after_others(const model::InstanceView& instance, const model::Horizon& horizon,
                          BoundProblem& bound);

}  // namespace berth::certify
