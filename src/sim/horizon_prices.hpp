// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "present_problem.hpp"

#include <cstdint>
#include <vector>

#include "berth/policy/state.hpp"
#include "berth/sim/berth_policy.hpp"
#include "berth/solver/horizon_bound.hpp"
#include "berth/solver/price_curve.hpp"

namespace berth::sim {

/// Prices of GPU time of each type from the last round on (docs/horizon.md).
class HorizonPrices {
 public:
  explicit HorizonPrices(const BerthOptions& options) : options_(options) {}

  /// Prices at which the jobs share the cluster, by a search long enough to plan with them.
  /// @pre a PetscSession exists; main thread
  PriceRound refresh(const policy::State& state, const PresentProblem& present);
  /// The same by a search long enough to choose GPU types with them, on 12 intervals: longer ones
  /// change the mean JCT by less than windows differ (decision 97).
  PriceRound refresh(const policy::State& state, const PresentClasses& present);
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
  PriceRound begin_round(const policy::State& state, std::int64_t jobs);
  void make_curves();

  BerthOptions options_;
  solver::HorizonBound bound_;
  std::vector<solver::horizon_plan::PriceCurve> curves_;  ///< by GPU type; of 1000 thousandths
  policy::Micros since_ = -policy::kNever;
  std::size_t changes_ = 0;
};

}  // namespace berth::sim
