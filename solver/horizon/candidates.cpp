// SPDX-License-Identifier: Apache-2.0
#include "horizon/smoothed_dual.hpp"

#include <algorithm>

namespace berth::solver::horizon_plan {

using berth::horizon::Job;
using berth::horizon::kNever;
using berth::horizon::Option;
using berth::horizon::Problem;

std::vector<PriceCurve> curves_of(const Problem& problem, const PriceGrid& grid,
                                  std::span<const double> ends) {
  std::vector<PriceCurve> result;
  result.reserve(free_curves(problem) + problem.budgets.size());
  const std::size_t count = 2 * (grid.size() - 1);
  for (std::size_t c = 0; c < free_curves(problem); ++c) {
    result.emplace_back(grid, ends.subspan(c * count, count));
  }
  std::vector<double> of_budget(count);
  for (std::size_t b = 0; b < problem.budgets.size(); ++b) {
    const double price = ends[free_curves(problem) * count + b];
    for (std::size_t i = 0; i < count; ++i) {
      of_budget[i] = in_budget(problem, grid, i / 2) ? price : 0.0;
    }
    result.emplace_back(grid, of_budget);
  }
  return result;
}

double rent_of(const Problem& problem, const Option& option, std::span<const PriceCurve> curves,
               berth::horizon::CurveId curve, Seconds from, Seconds to) {
  double rent = 0.0;
  visit_rent_parts(problem, option, curve.index(), [&](const RentPart& part) {
    rent += part.gpus * curves[part.curve].rent(static_cast<double>(from), static_cast<double>(to));
  });
  return rent;
}

namespace {

/// Pays at more than the price of the curve.
bool limited(const Problem& problem, const Option& option, std::int32_t curve) {
  std::size_t parts = 0;
  visit_rent_parts(problem, option, static_cast<std::size_t>(curve),
                   [&](const RentPart&) { ++parts; });
  return parts > 1;
}

/// What one second of the option costs, over time.
PriceCurve rent_curve(const Problem& problem, const Option& option,
                      std::span<const PriceCurve> curves, std::int32_t curve) {
  std::vector<PriceCurve::Part> parts;
  visit_rent_parts(problem, option, static_cast<std::size_t>(curve), [&](const RentPart& part) {
    parts.push_back({&curves[part.curve], part.gpus});
  });
  return PriceCurve::sum(parts);
}

}  // namespace

std::vector<std::vector<std::int32_t>> curves_of_pool_sets(const Problem& problem) {
  std::vector<std::vector<std::int32_t>> result;
  for (const auto& pools : problem.pool_sets) {
    std::vector<std::int32_t>& curves = result.emplace_back();
    for (const PoolId pool : pools) curves.push_back(problem.pools[pool.index()].curve.value());
    std::ranges::sort(curves);
    curves.erase(std::ranges::unique(curves).begin(), curves.end());
  }
  return result;
}

StartQuery start_query(const Problem& problem, const Job& job, const Option& option) {
  const double latest =
      job.deadline >= kNever ? kInfinity : static_cast<double>(job.deadline - option.duration);
  return {.earliest = static_cast<double>(job.release),
          .latest = latest,
          .duration = static_cast<double>(option.duration),
          .gpus = static_cast<double>(option.rent) / berth::horizon::kRentUnit,
          .cost = problem.cost_of(option)};
}

double collect_candidates(const Problem& problem, const Job& job,
                          std::span<const PriceCurve> curves,
                          std::span<const std::vector<std::int32_t>> curves_of_set, double margin,
                          std::vector<Candidate>& candidates) {
  candidates.clear();
  double least = job.required ? kInfinity : 0.0;
  const auto options = problem.options_of(job);
  for (std::size_t k = 0; k < options.size(); ++k) {
    for (const std::int32_t curve : curves_of_set[options[k].pools.index()]) {
      StartQuery query = start_query(problem, job, options[k]);
      const auto visit = [&](const StartPiece& piece) {
        if (piece.cost <= least + margin) {
          candidates.push_back({piece, static_cast<std::int32_t>(k), curve});
          least = std::min(least, piece.cost);
        }
        return least + margin;
      };
      if (limited(problem, options[k], curve)) {
        query.gpus = 1.0;
        visit_start_pieces(rent_curve(problem, options[k], curves, curve), query, visit);
      } else {
        visit_start_pieces(curves[static_cast<std::size_t>(curve)], query, visit);
      }
    }
  }
  std::erase_if(candidates, [&](const Candidate& c) { return c.piece.cost > least + margin; });
  return least;
}

double cost_range(const Problem& problem, const Job& job, berth::horizon::Seconds span) {
  double range = 0.0;
  for (const Option& option : problem.options_of(job)) {
    const auto cost = problem.cost_of(option);
    const auto first = job.release + option.duration;
    const double dearest =
        job.required ? cost_at(cost, first + span) : std::min(0.0, cost_at(cost, first + span));
    range = std::max(range, dearest - cost_at(cost, first));
    if (!job.required) range = std::max(range, -cost_at(cost, first));
  }
  return range;
}

}  // namespace berth::solver::horizon_plan
