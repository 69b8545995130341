// SPDX-License-Identifier: Apache-2.0
#include "horizon/regrets.hpp"

#include <algorithm>

#include "berth/parallel/loops.hpp"

namespace berth::solver::horizon_plan {

using berth::horizon::JobStart;
using berth::horizon::Option;
using berth::horizon::Plan;
using berth::horizon::Problem;

namespace {

double cost_with_rent(const Problem& problem, const PricedTime& prices,
                      const berth::horizon::Job& job, const JobStart& start) {
  if (!start.placed()) return 0.0;
  const Option& option = problem.options_of(job)[static_cast<std::size_t>(start.option)];
  const auto curve = problem.pools[start.pool.index()].curve;
  const Seconds end = start.start + option.duration;
  return cost_at(problem.cost_of(option), end) +
         rent_of(problem, option, prices.curves, curve, start.start, end);
}

}  // namespace

std::vector<double> regrets(const Problem& problem, const PricedTime& prices, const Plan& plan) {
  std::vector<double> result(problem.jobs.size(), 0.0);
  parallel::sweep(problem.jobs.size(), [&](std::size_t j) {
    thread_local std::vector<Candidate> candidates;
    const auto& job = problem.jobs[j];
    if (job.required && !plan.starts[j].placed()) return;  // it cannot run
    const double least =
        collect_candidates(problem, job, prices.curves, prices.curves_of_set, 0.0, candidates);
    result[j] = std::max(0.0, cost_with_rent(problem, prices, job, plan.starts[j]) - least);
  });
  return result;
}

}  // namespace berth::solver::horizon_plan
