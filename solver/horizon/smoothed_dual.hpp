// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon/job_classes.hpp"
#include "horizon/start_pieces.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/horizon/problem.hpp"
#include "berth/solver/dual_part.hpp"
#include "berth/solver/price_curve.hpp"

namespace berth::solver::horizon_plan {

/// Prices of the types, then of the quotas, then of the multiples, at the ends of the intervals:
/// [(curve K + k) 2] at the start of interval k, the next entry before its end; then one price of
/// each budget. All >= 0.
using EndPrices = std::vector<double>;

/// Curves with prices of their own on every interval: those of the types, quotas and multiples.
inline std::size_t free_curves(const berth::horizon::Problem& problem) {
  return problem.curves + problem.quotas.size() + problem.multiples.size();
}
/// A budget has one price on intervals that end before it does, and none on the others.
inline bool in_budget(const berth::horizon::Problem& problem, const PriceGrid& grid,
                      std::size_t interval) {
  return grid[interval + 1] <= problem.budgets_end;
}

/// Of the types, the quotas, the multiples and the budgets.
std::vector<PriceCurve> curves_of(const berth::horizon::Problem& problem, const PriceGrid& grid,
                                  std::span<const double> ends);

/// What an option pays for at a price: the curve, and GPUs.
struct RentPart {
  std::size_t curve = 0;
  double gpus = 0.0;
};
/// Calls visit(RentPart) for the option on a curve of its pools, its quotas, its multiples
/// and its budgets.
template <class Visit>
void visit_rent_parts(const berth::horizon::Problem& problem, const berth::horizon::Option& option,
                      std::size_t curve, Visit&& visit) {
  const double gpus = gpus_of(option);
  visit(RentPart{curve, static_cast<double>(option.rent) / berth::horizon::kRentUnit});
  for (const std::int32_t quota : problem.quotas_of(option)) {
    visit(RentPart{problem.curves + static_cast<std::size_t>(quota), gpus});
  }
  const std::size_t multiples = problem.curves + problem.quotas.size();
  for (std::size_t m = 0; m < problem.multiples.size(); ++m) {
    const berth::horizon::MultipleLimit& of = problem.multiples[m];
    const Gpus counted = berth::horizon::in_multiples(option.gpus, of.gpus);
    if (of.curve.index() != curve || counted == 0) continue;
    visit(RentPart{multiples + m, static_cast<double>(counted)});
  }
  for (const std::int32_t budget : problem.budgets_of(option)) {
    visit(RentPart{free_curves(problem) + static_cast<std::size_t>(budget), gpus});
  }
}
/// Rent of an option from `from` to `to` on a curve of its pools. O(parts log K).
double rent_of(const berth::horizon::Problem& problem, const berth::horizon::Option& option,
               std::span<const PriceCurve> curves, berth::horizon::CurveId curve, Seconds from,
               Seconds to);

/// A candidate of a job: the least cost on one piece of one option on one curve.
struct Candidate {
  StartPiece piece;
  std::int32_t option = 0;  ///< in the job's options
  std::int32_t curve = 0;   ///< of its pool
};

/// Curves of the pools of each pool set, ascending.
std::vector<std::vector<std::int32_t>> curves_of_pool_sets(const berth::horizon::Problem& problem);

/// The option's starts: no earlier than the release, completed by the deadline.
StartQuery start_query(const berth::horizon::Problem& problem, const berth::horizon::Job& job,
                       const berth::horizon::Option& option);

/// @param curves  as curves_of
/// Collects a job's candidates within `margin` of the cheapest one in `candidates`, ascending by
/// option, curve and start. Returns the least cost (0 at most when the job may be left out).
double collect_candidates(const berth::horizon::Problem& problem, const berth::horizon::Job& job,
                          std::span<const PriceCurve> curves,
                          std::span<const std::vector<std::int32_t>> curves_of_set, double margin,
                          std::vector<Candidate>& candidates);

/// What a delay over the horizon costs the job: the unit of its smoothing.
double cost_range(const berth::horizon::Problem& problem, const berth::horizon::Job& job,
                  berth::horizon::Seconds span);

/// Fixed point of the sums of a dual.
struct DualScale {
  double value = 1.0;
  std::vector<double> gradient;  ///< by unknown
};

/// The jobs' part of a smoothed dual: softmins and their gradient, summed over classes.
class ClassSums {
 public:
  /// @param ranges  by class: the unit of its smoothing
  ClassSums(const berth::horizon::Problem& problem, const PriceGrid& grid,
            std::span<const NearlyEqualJobs> classes, std::vector<double> ranges, DualScale scale);

  /// Adds the sums over the first `count` classes, in fixed point by block of them.
  /// @param sums  the value, then the gradient by unknown
  void add(std::span<const double> ends, double temperature, std::size_t count,
           std::span<std::int64_t> sums) const;

  [[nodiscard]] const DualScale& scale() const { return scale_; }
  static constexpr std::size_t kBlock = 256;  ///< classes

 private:
  struct BlockSums;
  void add_class(std::size_t index, std::span<const PriceCurve> curves, double temperature,
                 BlockSums& sums) const;
  [[nodiscard]] double total_of(const BlockSums& sums, std::size_t unknown) const;

  const berth::horizon::Problem& problem_;
  const PriceGrid& grid_;
  std::span<const NearlyEqualJobs> classes_;
  std::vector<double> ranges_;
  DualScale scale_;
  std::vector<std::vector<std::int32_t>> curves_of_set_;
};

/// The negated smoothed dual, to be minimised over prices >= 0:
///
///   G(x) = sum_p integral lambda_p C_p + sum_q integral lambda_q C_q + sum_b theta_b C_b  -  sum_j
///   softmin_eps( [0 if j may be left out], F_j )
///
/// over pools p, quotas and multiples q, and budgets b, where softmin runs over the candidates of a
/// job and eps = temperature x cost_range(j) (Nesterov 2005). -G at temperature 0 over all jobs is
/// a lower bound on the cost of every plan. Sums over fixed blocks of classes are int64 fixed
/// point, so a sum over any split of the blocks has equal bits, on any number of ranks and threads.
class SmoothedDual {
 public:
  /// @param ranks  that evaluate parts of it, or null; must outlive the dual
  SmoothedDual(const berth::horizon::Problem& problem, const PriceGrid& grid,
               std::vector<NearlyEqualJobs> classes, DualRanks* ranks = nullptr);
  SmoothedDual(const SmoothedDual&) = delete;

  [[nodiscard]] std::size_t unknowns() const { return capacity_.size(); }
  /// Integral of C_p times the basis function of each unknown, over the pools of its curve; of what
  /// is left of a quota; a budget.
  [[nodiscard]] std::span<const double> capacity() const { return capacity_; }

  /// G and its gradient. O(classes x pieces). Uses threads.
  double evaluate(std::span<const double> ends, double temperature,
                  std::span<double> gradient) const;

 private:
  [[nodiscard]] DualScale scale() const;
  void share_classes();

  const berth::horizon::Problem& problem_;
  const PriceGrid& grid_;
  std::vector<NearlyEqualJobs> classes_;
  std::vector<double> capacity_;
  std::vector<double> ranges_;  ///< by class
  std::optional<ClassSums> sums_;
  std::size_t own_ = 0;  ///< classes that are evaluated here, the first ones
  DualRanks* ranks_;
};

}  // namespace berth::solver::horizon_plan
