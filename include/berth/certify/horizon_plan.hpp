// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "berth/certify/check.hpp"
#include "berth/horizon/problem.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"

/// The judge of plan files with a horizon. It reads the instance on its own: shares no code with
/// the planner.
namespace berth::certify {

/// When a running job ends: its remaining seconds from now, or its seconds since its start. A job
/// that should have ended already, or that has neither, keeps its place to the end of the horizon.
std::int64_t end_of_running(const model::InstanceView& instance, const model::Horizon& horizon,
                            const model::Job& job);

struct HorizonJudgement {
  model::HorizonFigures figures;
  std::vector<JobId> required_missing;  ///< ascending; count on neither side of the gap
};

/// Objective of the placements, and the bound that the prices prove (horizon.hpp).
/// @param ends  by position in `placements`
/// @throws InputError when the prices are unusable
HorizonJudgement judge_horizon(const model::InstanceView& instance, const model::Horizon& horizon,
                               const model::Placement& placements,
                               std::span<const std::int64_t> ends,
                               const model::PriceCurves& prices);

/// What the machines of each GPU type are worth over time by the factors of shapes: the most that
/// tasks on them pay for, in 2^-14 GPUs, by type in ascending order. Requires factors.
/// @throws InputError when they are unusable
std::vector<std::vector<horizon::CapacityStep>> worth_in_time(const model::InstanceView& instance,
                                                              const model::Horizon& horizon,
                                                              const model::PriceCurves& prices);

/// SHA-256 over objective, bound and prices.
std::string horizon_proof_digest(const model::Horizon& horizon,
                                 const model::HorizonFigures& figures,
                                 const model::PriceCurves& prices);

struct HorizonCheck {
  CheckResult checked;  ///< faults; its figures have counts only
  model::HorizonObjective objective = model::HorizonObjective::value;
  HorizonJudgement judged;  ///< recomputed; without bound when the prices are unusable
};

/// Judges a plan file with a horizon against the input alone: gangs, types, domains; every device
/// and resource of every machine at every moment; windows and machine states, quotas, power
/// budgets, uplinks, spare GPUs, releases, deadlines, durations and jobs that wait for others;
/// running jobs in their places; objective, bound and gap, counts and digests.
/// O((input + plan) log plan + jobs x intervals); never throws on the content of the plan.
HorizonCheck check_horizon(const model::InstanceView& instance, const model::RawHorizonPlan& plan);

}  // namespace berth::certify
