// SPDX-License-Identifier: Apache-2.0
#include "horizon/start_quantiles.hpp"

#include "assignment/smooth_math.hpp"

#include <algorithm>

#include "berth/parallel/loops.hpp"

namespace berth::solver::horizon_plan {
namespace {

using assignment::exp_of;
using assignment::kNegligibleExponent;
using berth::horizon::Job;
using berth::horizon::Problem;

/// @param candidates  within kNegligibleExponent eps of `least`; sorted by start here
double quantile_of(const Job& job, std::vector<Candidate>& candidates, double least, double eps,
                   double quantile, const PriceGrid& grid) {
  std::ranges::stable_sort(candidates, {}, [](const Candidate& c) { return c.piece.start; });
  double out = 0.0;
  if (!job.required && least > -eps * kNegligibleExponent) out = exp_of(least / eps);
  double run = 0.0;
  for (const Candidate& c : candidates) run += exp_of((least - c.piece.cost) / eps);
  const double total = run + out;
  double below = 0.0;
  for (const Candidate& c : candidates) {
    below += exp_of((least - c.piece.cost) / eps);
    if (below >= quantile * total) return c.piece.start;
  }
  const auto span = static_cast<double>(grid.back() - grid.front());
  return static_cast<double>(grid.back()) + span * (total > 0.0 ? out / total : 1.0);
}

}  // namespace

std::vector<double> start_quantiles(const Problem& problem, const PricedTime& prices,
                                    double temperature, double quantile, const PriceGrid& grid) {
  std::vector<double> result(problem.jobs.size(), 0.0);
  const Seconds span = grid.back() - grid.front();
  parallel::sweep(problem.jobs.size(), [&](std::size_t j) {
    thread_local std::vector<Candidate> candidates;
    const Job& job = problem.jobs[j];
    const double eps = std::max(temperature * cost_range(problem, job, span), 1e-9);
    const double least = collect_candidates(problem, job, prices.curves, prices.curves_of_set,
                                            eps * kNegligibleExponent, candidates);
    result[j] = quantile_of(job, candidates, least, eps, quantile, grid);
  });
  return result;
}

}  // namespace berth::solver::horizon_plan
