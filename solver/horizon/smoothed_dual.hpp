// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon/job_classes.hpp"
#include "horizon/price_curve.hpp"
#include "horizon/start_pieces.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/horizon/problem.hpp"

namespace berth::solver::horizon_plan {

/// Prices at the ends of the intervals: [(curve K + k) 2] at the start of interval k, the next
/// entry before its end. All >= 0.
using EndPrices = std::vector<double>;

std::vector<PriceCurve> curves_of(const PriceGrid& grid, std::size_t curves,
                                  std::span<const double> ends);

/// A candidate of a job: the least cost on one piece of one option on one curve.
struct Candidate {
  StartPiece piece;
  std::int32_t option = 0;  ///< in the job's options
  std::int32_t curve = 0;
};

/// Curves of the pools of each pool set, ascending.
std::vector<std::vector<std::int32_t>> curves_of_pool_sets(const berth::horizon::Problem& problem);

/// The option's starts: no earlier than the release, completed by the deadline.
StartQuery start_query(const berth::horizon::Problem& problem, const berth::horizon::Job& job,
                       const berth::horizon::Option& option);

/// Collects a job's candidates within `margin` of the cheapest one in `candidates`, ascending by
/// option, curve and start. Returns the least cost (0 at most when the job may be left out).
double collect_candidates(const berth::horizon::Problem& problem, const berth::horizon::Job& job,
                          std::span<const PriceCurve> curves,
                          std::span<const std::vector<std::int32_t>> curves_of_set, double margin,
                          std::vector<Candidate>& candidates);

/// What a delay over the horizon costs the job: the unit of its smoothing.
double cost_range(const berth::horizon::Problem& problem, const berth::horizon::Job& job,
                  berth::horizon::Seconds span);

/// The negated smoothed dual, to be minimised over prices >= 0:
///
///   G(x) = sum_p integral lambda_p C_p  -  sum_j softmin_eps( [0 if j may be left out], F_j )
///
/// where softmin runs over the candidates of a job and eps = temperature x cost_range(j) (Nesterov
/// 2005). -G at temperature 0 over all jobs is a lower bound on the cost of every plan. Sums over
/// fixed blocks of classes are int64 fixed point, so a sum over any split of the blocks has equal
/// bits, on any number of ranks and threads.
class SmoothedDual {
 public:
  SmoothedDual(const berth::horizon::Problem& problem, const PriceGrid& grid,
               std::vector<NearlyEqualJobs> classes);

  [[nodiscard]] std::size_t unknowns() const { return capacity_.size(); }
  /// integral of C_p times the basis function of each unknown, over the pools of its curve
  [[nodiscard]] std::span<const double> capacity() const { return capacity_; }

  /// G and its gradient. O(classes x pieces). Uses threads.
  double evaluate(std::span<const double> ends, double temperature,
                  std::span<double> gradient) const;

 private:
  struct BlockSums;
  void add_class(const NearlyEqualJobs& members, std::span<const PriceCurve> curves,
                 double temperature, BlockSums& sums) const;
  void set_scales();

  const berth::horizon::Problem& problem_;
  const PriceGrid& grid_;
  std::vector<NearlyEqualJobs> classes_;
  std::vector<double> range_;  ///< by class: cost_range, or the rent at price 1 when that is 0
  std::vector<std::vector<std::int32_t>> curves_of_set_;
  std::vector<double> capacity_;
  double value_scale_ = 1.0;            ///< fixed point of the jobs' part of G
  std::vector<double> gradient_scale_;  ///< by interval
};

}  // namespace berth::solver::horizon_plan
