// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "berth/model/workload.hpp"
#include "berth/policy/policy.hpp"
#include "berth/policy/time.hpp"

namespace berth::sim {

/// What `berth` works towards.
enum class OnlineObjective : std::uint8_t {
  flow,      ///< least weighted sum of completion times
  makespan,  ///< the last completion early
  value,     ///< values of jobs at their ends: utilities and deadlines
  allocate,  ///< GPUs in use to the end
};

/// Berth as an online scheduler (docs/simulate.md, decision 57). Values were chosen on windows of
/// the Philly trace that no table shows.
struct BerthOptions {
  OnlineObjective objective = OnlineObjective::flow;
  bool preemption = true;  ///< false: no job is stopped; of flow, the horizon plan itself
  policy::Micros spacing = 30 * policy::kSecond;   ///< least time between two decisions
  policy::Micros refresh = 300 * policy::kSecond;  ///< most time between two rounds of prices
  double change = 0.1;  ///< a round of prices too when this share of the jobs present is others
  /// Remaining time of a running job counts less by this share, 0 .. 1: who displaces it gains
  /// more.
  double hysteresis = 0.3;
  policy::Micros least_run = 300 * policy::kSecond;  ///< no job is stopped before
  double least_run_restarts = 5.0;  ///< nor before this many times its restart cost
  /// Exponent of a job's GPUs in its index: 1 is least GPU-time first, 0 least time first.
  double width_exponent = 1.0;
  /// A job's index falls by 1 + (age / (ageing (length + 10 min)))^2; 0: never.
  double ageing = 4.0;
  /// A job this many times (length + 1 h) old comes first, with others on `overdue_share` of GPUs.
  double overdue_factor = 10.0;
  double overdue_share = 0.15;
  /// Jobs of `gang_gpus` GPUs and more come first, in order of arrival, on this share of GPUs.
  double gang_share = 0.0;
  double gang_gpus = 64.0;
  /// Of GPUs: a decision moves no more jobs to another GPU type when it has moved as many.
  double move_share = 0.1;
};

/// A round of prices, and what they prove about the jobs priced: waiting ones, and running ones
/// that may be stopped.
struct PriceRound {
  policy::Micros time = 0;
  std::int64_t jobs = 0;
  std::int64_t evaluations = 0;  ///< of the smoothed dual
  double cost = 0.0;   ///< weighted seconds to completion in the list plan that the search began at
  double bound = 0.0;  ///< the least that any plan of these jobs on the same pools can cost
};

/// What a run of the policy did.
struct BerthCounts {
  std::int64_t decisions = 0;  ///< rounds that looked at all jobs
  std::int64_t moves = 0;      ///< to another GPU type
  std::vector<PriceRound> rounds = {};
};

template <class Archive>
void describe(Archive& archive, BerthCounts& counts) {
  archive(counts.decisions, counts.moves, counts.rounds);
}

/// Mean over the rounds of 1 - bound / cost; 0 without rounds.
double mean_gap(const BerthCounts& counts);

/// The policy; `counts` and the workload must outlive it. @pre with more than one GPU type, or
/// without pre-emption, a PetscSession exists and decisions are made on the main thread
/// @param workload  of the objective value: its jobs; others need none
std::unique_ptr<policy::Policy> make_berth(const BerthOptions& options, BerthCounts& counts,
                                           const model::Workload* workload = nullptr);

}  // namespace berth::sim
