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

/// How long the search of prices lasts.
struct PriceSearch {
  int intervals;  ///< of each curve
  std::vector<double> temperatures;
  int iterations;  ///< at each temperature
};
/// Enough to choose a type: longer searches change the mean JCT by less than windows differ.
inline const PriceSearch kTypeSearch{.intervals = 12, .temperatures = {1e-4}, .iterations = 4};
/// For plans whose starts rest on the prices.
inline const PriceSearch kPlanSearch{
    .intervals = 24, .temperatures = {1e-4, 1e-5}, .iterations = 12};

/// Prices of GPU time of each type from the last round on (docs/horizon.md).
class HorizonPrices {
 public:
  HorizonPrices(const BerthOptions& options, const PriceSearch& search)
      : options_(options), search_(search) {}

  /// Prices at which the jobs present share the cluster. @pre a PetscSession exists; main thread
  PriceRound refresh(const policy::State& state, const PresentProblem& present);
  /// Notes what arrived and ended since; true when prices are older than the options allow.
  bool due(const policy::State& state, std::size_t present);
  [[nodiscard]] const solver::HorizonBound& bound() const { return bound_; }

  /// Weighted seconds of others that a GPU of the type costs between these seconds from now.
  [[nodiscard]] double rent(GpuTypeId type, policy::Micros now, double from, double to) const;
  /// Seconds from now until each change of the prices, from 0 on, ascending.
  [[nodiscard]] std::vector<double> waits(policy::Micros now) const;

  void save(ByteWriter& writer) const { writer(bound_.grid, bound_.ends, since_, changes_); }
  void restore(ByteReader& reader);

 private:
  void make_curves();

  BerthOptions options_;
  const PriceSearch& search_;
  solver::HorizonBound bound_;
  std::vector<solver::horizon_plan::PriceCurve> curves_;  ///< by GPU type; of 1000 thousandths
  policy::Micros since_ = -policy::kNever;
  std::size_t changes_ = 0;
};

}  // namespace berth::sim
