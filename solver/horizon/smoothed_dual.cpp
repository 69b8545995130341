// SPDX-License-Identifier: Apache-2.0
#include "horizon/smoothed_dual.hpp"

#include "assignment/smooth_math.hpp"

#include <algorithm>
#include <cmath>

#include "berth/base/assert.hpp"
#include "berth/parallel/loops.hpp"

namespace berth::solver::horizon_plan {
namespace {

using assignment::exp_of;
using assignment::kNegligibleExponent;
using assignment::log_of;
using berth::horizon::CapacityStep;
using berth::horizon::Job;
using berth::horizon::kRentUnit;
using berth::horizon::Pool;
using berth::horizon::Problem;

constexpr std::size_t kBlockClasses = 256;
/// Fixed-point sums stay below 2^61.
constexpr double kLargestSum = 0x1p61;

/// Largest power of two that keeps `bound` x scale below kLargestSum.
double scale_for(double bound) {
  return std::exp2(std::floor(std::log2(kLargestSum / std::max(bound, 1e-6))));
}

/// Adds the integral of `gpus` x (the two hat functions of an interval) over [from, to) inside it.
void add_capacity(double node, double length, double from, double to, double gpus, double* ends) {
  const double u0 = from - node, u1 = to - node;
  const double rising = 0.5 * (u1 * u1 - u0 * u0) / length;
  ends[0] += gpus * (u1 - u0 - rising);
  ends[1] += gpus * rising;
}

/// Adds steps of GPUs in 1 / unit; below 0 they count as 0.
void add_steps(std::span<const CapacityStep> steps, std::int64_t unit, const PriceGrid& grid,
               std::span<double> ends) {
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Seconds until = s + 1 < steps.size() ? steps[s + 1].from : grid.back();
    const Gpus gpus = std::max<Gpus>(0, steps[s].gpus);
    for (std::size_t k = 0; k + 1 < grid.size(); ++k) {
      const Seconds from = std::max(steps[s].from, grid[k]);
      const Seconds to = std::min(until, grid[k + 1]);
      if (from >= to) continue;
      add_capacity(static_cast<double>(grid[k]), static_cast<double>(grid[k + 1] - grid[k]),
                   static_cast<double>(from), static_cast<double>(to),
                   static_cast<double>(gpus) / static_cast<double>(unit), &ends[2 * k]);
    }
  }
}

/// The rent of the shortest option at price 1: the unit of smoothing where costs are constant.
double gpu_seconds(const Problem& problem, const Job& job) {
  double least = kInfinity;
  for (const auto& option : problem.options_of(job)) {
    least = std::min(least, gpus_of(option) * static_cast<double>(option.duration));
  }
  return least < kInfinity ? least : 0.0;
}

}  // namespace

/// Sums of one block. d Lambda(t) / d ends = half the length for whole intervals before t, and a
/// quadratic in the interval of t: the former are kept as a difference array.
struct SmoothedDual::BlockSums {
  BlockSums(const PriceGrid& grid_, std::size_t curves)
      : grid(grid_), ends(curves * 2 * (grid.size() - 1), 0.0), whole(curves * grid.size(), 0.0) {}

  /// Adds c x the gradient of Lambda_curve(t).
  void add(std::size_t curve, std::size_t interval, double t, double c) {
    whole[curve * grid.size() + interval] += c;
    if (interval + 1 == grid.size()) return;
    const double u = t - static_cast<double>(grid[interval]);
    const double length = static_cast<double>(grid[interval + 1] - grid[interval]);
    const double rising = 0.5 * u * u / length;
    double* at = &ends[2 * (curve * (grid.size() - 1) + interval)];
    at[0] += c * (u - rising);
    at[1] += c * rising;
  }

  /// Adds the whole intervals to `ends`.
  void finish() {
    const std::size_t count = grid.size() - 1;
    for (std::size_t curve = 0; curve * grid.size() < whole.size(); ++curve) {
      double after = 0.0;
      for (std::size_t k = count; k-- > 0;) {
        after += whole[curve * grid.size() + k + 1];
        const double half = 0.5 * static_cast<double>(grid[k + 1] - grid[k]) * after;
        ends[2 * (curve * count + k)] += half;
        ends[2 * (curve * count + k) + 1] += half;
      }
    }
  }

  const PriceGrid& grid;
  double value = 0.0;
  std::vector<double> ends;
  std::vector<double> whole;  ///< [curve (K + 1) + interval]: holds for all intervals before it
  std::vector<Candidate> candidates;
};

SmoothedDual::SmoothedDual(const Problem& problem, const PriceGrid& grid,
                           std::vector<NearlyEqualJobs> classes)
    : problem_(problem),
      grid_(grid),
      classes_(std::move(classes)),
      curves_of_set_(curves_of_pool_sets(problem)),
      capacity_(free_curves(problem) * 2 * (grid.size() - 1), 0.0) {
  BERTH_EXPECT(grid.size() >= 2 && grid.front() == problem.now);
  const std::size_t count = 2 * (grid.size() - 1);
  const auto of_curve = [&](std::size_t curve) {
    return std::span(capacity_).subspan(curve * count, count);
  };
  for (const Pool& pool : problem.pools) {
    const bool gpus = pool.worth.empty();
    add_steps(gpus ? pool.capacity : pool.worth, gpus ? 1 : kRentUnit, grid,
              of_curve(pool.curve.index()));
  }
  for (std::size_t q = 0; q < problem.quotas.size(); ++q) {
    add_steps(problem.quotas[q], 1, grid, of_curve(problem.curves + q));
  }
  for (const std::int64_t budget : problem.budgets) {
    capacity_.push_back(static_cast<double>(budget));
  }
  const Seconds span = grid.back() - grid.front();
  std::erase_if(classes_, [&](const NearlyEqualJobs& c) {  // no start gains anything
    const Job& job = problem.jobs[c.job.index()];
    return !job.required && cost_range(problem, job, span) <= 0.0;
  });
  for (const NearlyEqualJobs& c : classes_) {
    const Job& job = problem.jobs[c.job.index()];
    const double range = cost_range(problem, job, span);
    range_.push_back(range > 0.0 ? range : gpu_seconds(problem, job));
  }
  set_scales();
}

void SmoothedDual::set_scales() {
  double value = 0.0, gpus = 0.0;
  const Seconds span = grid_.back() - grid_.front();
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    const Job& job = problem_.jobs[classes_[i].job.index()];
    const auto count = static_cast<double>(classes_[i].count);
    double largest = range_[i], widest = 0.0;
    for (const auto& option : problem_.options_of(job)) {
      const auto cost = problem_.cost_of(option);
      const Seconds first = job.release + option.duration;
      largest = std::max(
          {largest, std::abs(cost_at(cost, first)), std::abs(cost_at(cost, first + span))});
      widest = std::max({widest, gpus_of(option), static_cast<double>(option.rent) / kRentUnit});
    }
    value += 2.0 * count * largest;
    gpus += 2.0 * count * widest;
  }
  value_scale_ = scale_for(value);
  const std::size_t intervals = grid_.size() - 1;
  for (std::size_t i = 0; i < unknowns(); ++i) {
    const std::size_t k = i / 2 % intervals;
    const bool budget = i >= 2 * free_curves(problem_) * intervals;
    const Seconds length = budget ? span : grid_[k + 1] - grid_[k];
    gradient_scale_.push_back(scale_for(gpus * static_cast<double>(length)));
  }
}

void SmoothedDual::add_class(const NearlyEqualJobs& members, std::span<const PriceCurve> curves,
                             double temperature, BlockSums& sums) const {
  const Job& job = problem_.jobs[members.job.index()];
  const double range = range_[static_cast<std::size_t>(&members - classes_.data())];
  const double eps = std::max(temperature * range, 1e-9);
  const double least = collect_candidates(problem_, job, curves, curves_of_set_,
                                          eps * kNegligibleExponent, sums.candidates);
  if (least == kInfinity) return;  // no option meets the deadline
  double total = 0.0;
  if (!job.required && least > -eps * kNegligibleExponent) total = exp_of(least / eps);
  for (const Candidate& c : sums.candidates) total += exp_of((least - c.piece.cost) / eps);
  const auto count = static_cast<double>(members.count);
  sums.value += count * (least - eps * log_of(total));
  for (const Candidate& c : sums.candidates) {
    const auto& option = problem_.options_of(job)[static_cast<std::size_t>(c.option)];
    const double weight = exp_of((least - c.piece.cost) / eps);
    const double completion = c.piece.start + static_cast<double>(option.duration);
    const auto curve = static_cast<std::size_t>(c.curve);
    visit_rent_parts(problem_, option, curve, [&](const RentPart& part) {
      const double share = count * part.gpus * weight / total;
      sums.add(part.curve, c.piece.completion, completion, share);
      sums.add(part.curve, c.piece.interval, c.piece.start, -share);
    });
  }
}

/// The gradient by unknown: a budget has one price on many intervals.
double SmoothedDual::total_of(const BlockSums& sums, std::size_t unknown) const {
  const std::size_t intervals = grid_.size() - 1;
  const std::size_t of_curves = 2 * free_curves(problem_) * intervals;
  if (unknown < of_curves) return sums.ends[unknown];
  const std::size_t budget = free_curves(problem_) + unknown - of_curves;
  double total = 0.0;
  for (std::size_t k = 0; k < intervals; ++k) {
    if (!in_budget(problem_, grid_, k)) continue;
    const double* at = &sums.ends[2 * (budget * intervals + k)];
    total += at[0] + at[1];
  }
  return total;
}

double SmoothedDual::evaluate(std::span<const double> ends, double temperature,
                              std::span<double> gradient) const {
  BERTH_EXPECT(ends.size() == unknowns());
  const std::vector<PriceCurve> curves = curves_of(problem_, grid_, ends);
  const std::size_t blocks = (classes_.size() + kBlockClasses - 1) / kBlockClasses;
  const std::size_t width = 1 + unknowns();
  std::vector<std::int64_t> rows(blocks * width, 0);
  parallel::sweep_blocks(classes_.size(), kBlockClasses,
                         [&](std::size_t block, std::size_t begin, std::size_t end) {
                           BlockSums sums(grid_, curves.size());
                           for (std::size_t i = begin; i < end; ++i) {
                             add_class(classes_[i], curves, temperature, sums);
                           }
                           sums.finish();
                           std::int64_t* row = &rows[block * width];
                           row[0] = std::llround(sums.value * value_scale_);
                           for (std::size_t i = 0; i < unknowns(); ++i) {
                             row[1 + i] = std::llround(total_of(sums, i) * gradient_scale_[i]);
                           }
                         });
  std::vector<std::int64_t> total(width, 0);
  for (std::size_t i = 0; i < rows.size(); ++i) total[i % width] += rows[i];
  double value = -static_cast<double>(total[0]) / value_scale_;
  for (std::size_t i = 0; i < unknowns(); ++i) {
    value += capacity_[i] * ends[i];
    if (gradient.empty()) continue;
    gradient[i] = capacity_[i] - static_cast<double>(total[1 + i]) / gradient_scale_[i];
  }
  return value;
}

}  // namespace berth::solver::horizon_plan
