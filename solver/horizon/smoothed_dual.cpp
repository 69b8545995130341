// SPDX-License-Identifier: Apache-2.0
#include "horizon/smoothed_dual.hpp"

#include "assignment/smooth_math.hpp"
#include "horizon/dual_tables.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

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

/// Without the classes of which no start gains anything.
std::vector<NearlyEqualJobs> gaining(const Problem& problem, const PriceGrid& grid,
                                     std::vector<NearlyEqualJobs> classes) {
  const Seconds span = grid.back() - grid.front();
  std::erase_if(classes, [&](const NearlyEqualJobs& c) {
    const Job& job = problem.jobs[c.job.index()];
    return !job.required && cost_range(problem, job, span) <= 0.0;
  });
  return classes;
}

/// By class: cost_range, or the rent at price 1 when that is 0.
std::vector<double> ranges_of(const Problem& problem, const PriceGrid& grid,
                              std::span<const NearlyEqualJobs> classes) {
  const Seconds span = grid.back() - grid.front();
  std::vector<double> ranges;
  for (const NearlyEqualJobs& c : classes) {
    const Job& job = problem.jobs[c.job.index()];
    const double range = cost_range(problem, job, span);
    ranges.push_back(range > 0.0 ? range : gpu_seconds(problem, job));
  }
  return ranges;
}

}  // namespace

/// Sums of one block. d Lambda(t) / d ends = half the length for whole intervals before t, and a
/// quadratic in the interval of t: the former are kept as a difference array.
struct ClassSums::BlockSums {
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
  std::vector<double> weights;  ///< of the candidates
};

ClassSums::ClassSums(const Problem& problem, const PriceGrid& grid,
                     std::span<const NearlyEqualJobs> classes, std::vector<double> ranges,
                     DualScale scale)
    : problem_(problem),
      grid_(grid),
      classes_(classes),
      ranges_(std::move(ranges)),
      scale_(std::move(scale)),
      curves_of_set_(curves_of_pool_sets(problem)) {}

void ClassSums::add_class(std::size_t index, std::span<const PriceCurve> curves, double temperature,
                          BlockSums& sums) const {
  const NearlyEqualJobs& members = classes_[index];
  const Job& job = problem_.jobs[members.job.index()];
  const double eps = std::max(temperature * ranges_[index], 1e-9);
  const double least = collect_candidates(problem_, job, curves, curves_of_set_,
                                          eps * kNegligibleExponent, sums.candidates);
  if (least == kInfinity) return;  // no option meets the deadline
  double total = 0.0;
  if (!job.required && least > -eps * kNegligibleExponent) total = exp_of(least / eps);
  sums.weights.clear();
  for (const Candidate& c : sums.candidates) {
    sums.weights.push_back(exp_of((least - c.piece.cost) / eps));
    total += sums.weights.back();
  }
  const auto count = static_cast<double>(members.count);
  sums.value += count * (least - eps * log_of(total));
  for (std::size_t i = 0; i < sums.candidates.size(); ++i) {
    const Candidate& c = sums.candidates[i];
    const double weight = sums.weights[i];
    const auto& option = problem_.options_of(job)[static_cast<std::size_t>(c.option)];
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
double ClassSums::total_of(const BlockSums& sums, std::size_t unknown) const {
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

void ClassSums::add(std::span<const double> ends, double temperature, std::size_t count,
                    std::span<std::int64_t> sums) const {
  const std::vector<PriceCurve> curves = curves_of(problem_, grid_, ends);
  const std::size_t blocks = (count + kBlock - 1) / kBlock;
  std::vector<std::int64_t> rows(blocks * sums.size(), 0);
  parallel::sweep_blocks(count, kBlock, [&](std::size_t block, std::size_t begin, std::size_t end) {
    BlockSums of_block(grid_, curves.size());
    for (std::size_t i = begin; i < end; ++i) add_class(i, curves, temperature, of_block);
    of_block.finish();
    std::int64_t* row = &rows[block * sums.size()];
    row[0] = std::llround(of_block.value * scale_.value);
    for (std::size_t i = 0; i < scale_.gradient.size(); ++i) {
      row[1 + i] = std::llround(total_of(of_block, i) * scale_.gradient[i]);
    }
  });
  for (std::size_t i = 0; i < rows.size(); ++i) sums[i % sums.size()] += rows[i];
}

SmoothedDual::SmoothedDual(const Problem& problem, const PriceGrid& grid,
                           std::vector<NearlyEqualJobs> classes, DualRanks* ranks)
    : problem_(problem),
      grid_(grid),
      classes_(gaining(problem, grid, std::move(classes))),
      capacity_(free_curves(problem) * 2 * (grid.size() - 1), 0.0),
      ranges_(ranges_of(problem, grid, classes_)),
      ranks_(ranks) {
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
  for (std::size_t m = 0; m < problem.multiples.size(); ++m) {
    add_steps(problem.multiples[m].capacity, 1, grid,
              of_curve(problem.curves + problem.quotas.size() + m));
  }
  for (const std::int64_t budget : problem.budgets) {
    capacity_.push_back(static_cast<double>(budget));
  }
  sums_.emplace(problem, grid, classes_, ranges_, scale());
  own_ = classes_.size();
  if (ranks_ != nullptr && ranks_->size() > 1) share_classes();
}

DualScale SmoothedDual::scale() const {
  double value = 0.0, gpus = 0.0;
  const Seconds span = grid_.back() - grid_.front();
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    const Job& job = problem_.jobs[classes_[i].job.index()];
    const auto count = static_cast<double>(classes_[i].count);
    double largest = ranges_[i], widest = 0.0;
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
  DualScale scale{.value = scale_for(value), .gradient = {}};
  const std::size_t intervals = grid_.size() - 1;
  for (std::size_t i = 0; i < unknowns(); ++i) {
    const std::size_t k = i / 2 % intervals;
    const bool budget = i >= 2 * free_curves(problem_) * intervals;
    const Seconds length = budget ? span : grid_[k + 1] - grid_[k];
    scale.gradient.push_back(scale_for(gpus * static_cast<double>(length)));
  }
  return scale;
}

/// Blocks of classes, as many a rank; this one has the first.
void SmoothedDual::share_classes() {
  const std::size_t blocks = (classes_.size() + ClassSums::kBlock - 1) / ClassSums::kBlock;
  if (blocks < 2) return;  // a message takes longer
  const auto first = [&](std::size_t rank) {
    return std::min(classes_.size(), blocks * rank / ranks_->size() * ClassSums::kBlock);
  };
  std::vector<std::string> parts(ranks_->size());
  for (std::size_t r = 1; r < parts.size(); ++r) {
    const std::size_t begin = first(r), count = first(r + 1) - begin;
    parts[r] = bytes_of(tables_of(problem_, grid_, std::span(classes_).subspan(begin, count),
                                  std::span(ranges_).subspan(begin, count), sums_->scale()));
  }
  own_ = first(1);
  ranks_->share(std::move(parts));
}

double SmoothedDual::evaluate(std::span<const double> ends, double temperature,
                              std::span<double> gradient) const {
  BERTH_EXPECT(ends.size() == unknowns());
  std::vector<std::int64_t> total(1 + unknowns(), 0);
  const auto add_own = [&](std::span<std::int64_t> sums) {
    sums_->add(ends, temperature, own_, sums);
  };
  if (own_ < classes_.size()) {
    ranks_->sum(ends, temperature, add_own, total);
  } else {
    add_own(total);
  }
  const DualScale& scale = sums_->scale();
  double value = -static_cast<double>(total[0]) / scale.value;
  for (std::size_t i = 0; i < unknowns(); ++i) {
    value += capacity_[i] * ends[i];
    if (gradient.empty()) continue;
    gradient[i] = capacity_[i] - static_cast<double>(total[1 + i]) / scale.gradient[i];
  }
  return value;
}

}  // namespace berth::solver::horizon_plan
