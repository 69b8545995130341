// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/horizon/problem.hpp"
#include "berth/policy/state.hpp"
#include "berth/sim/berth_policy.hpp"
#include "berth/solver/horizon_bound.hpp"
#include "berth/solver/price_curve.hpp"

namespace berth::sim {

/// The jobs present as a problem in time over pools, one a GPU type: what each is expected to need
/// from now on, in thousandths of GPUs and seconds. Jobs without GPUs are not in it.
struct PresentProblem {
  horizon::Problem problem;
  std::vector<JobId> jobs;  ///< by the problem's JobId
};

/// @param may_move  true: every job may run anywhere; false: running jobs are capacity taken
/// O(jobs x types)
PresentProblem present_problem(const policy::State& state, std::span<const JobId> present,
                               bool may_move);

/// Prices of GPU time of each type from the last round on (docs/horizon.md).
class HorizonPrices {
 public:
  explicit HorizonPrices(const BerthOptions& options) : options_(options) {}

  /// Prices at which the jobs present share the cluster. @pre a PetscSession exists; main thread
  void refresh(const policy::State& state, const PresentProblem& present);
  /// Notes what arrived and ended since; true when prices are older than the options allow.
  bool due(const policy::State& state, std::size_t present);
  [[nodiscard]] const solver::HorizonBound& bound() const { return bound_; }

  /// Weighted seconds of others that a GPU of the type costs between these seconds from now.
  [[nodiscard]] double rent(GpuTypeId type, policy::Micros now, double from, double to) const;
  /// Seconds from now until each change of the prices, from 0 on, ascending.
  [[nodiscard]] std::vector<double> waits(policy::Micros now) const;

 private:
  BerthOptions options_;
  solver::HorizonBound bound_;
  std::vector<solver::horizon_plan::PriceCurve> curves_;  ///< by GPU type; of 1000 thousandths
  policy::Micros since_ = -policy::kNever;
  std::size_t changes_ = 0;
};

}  // namespace berth::sim
