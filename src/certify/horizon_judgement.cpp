// SPDX-License-Identifier: Apache-2.0
#include "exact.hpp"
#include "horizon_jobs.hpp"
#include "horizon_limits.hpp"
#include "horizon_prices.hpp"
#include "job_value.hpp"

#include <algorithm>
#include <cmath>

#include "berth/base/error.hpp"
#include "berth/certify/horizon.hpp"
#include "berth/certify/horizon_plan.hpp"
#include "berth/model/digest.hpp"

namespace berth::certify {
namespace {

using model::Horizon;
using model::InstanceView;

/// Cost of a placed job where it is, rounded up, in units of 2^-kPriceFractionBits.
Int128 cost_of(const InstanceView& instance, const Horizon& horizon,
               const model::JobPlacement& placed, std::int64_t end) {
  const model::Job& job = instance.workload.job(placed.job);
  const PlacementExtent at = extent_of(instance, placed);
  const double value = value_in_time(instance, job, run_of(instance.workload, placed), at);
  const std::int64_t release = std::min(placed.start, release_of(instance, horizon, job));
  const auto pieces = costs_in_time(instance, horizon, job, value, end - placed.start, release);
  std::size_t i = pieces.size() - 1;
  while (i > 0 && pieces[i].after >= end) --i;
  const IntegerCost cost = integer_cost(pieces[i], Rounding::up);
  return cost.cost + cost.slope * (end - cost.after);
}

/// What stops cost of all jobs that may not stay; costs_in_time takes them off those that move.
Int128 stop_costs(const InstanceView& instance, const Horizon& horizon) {
  Int128 sum = 0;
  if (horizon.objective != model::HorizonObjective::value) return sum;
  for (const model::Running& running : instance.workload.tables().running) {
    if (!may_not_stay(instance, horizon, instance.workload.job(running.job))) continue;
    sum +=
        integer_cost({.after = horizon.now, .cost = running.stop_cost, .slope = 0.0}, Rounding::up)
            .cost;
  }
  return sum;
}

/// A plan that marks the placed jobs, for the proof.
horizon::Plan placed_jobs(const BoundProblem& bound, const model::Placement& placements) {
  horizon::Plan plan{.starts = std::vector<horizon::JobStart>(bound.jobs.size()), .shares = {}};
  for (const model::JobPlacement& placed : placements) {
    const auto found = std::ranges::lower_bound(bound.jobs, placed.job);
    if (found == bound.jobs.end() || *found != placed.job) continue;  // it runs
    const auto j = static_cast<std::size_t>(found - bound.jobs.begin());
    if (bound.problem.jobs[j].options.size() == 0) continue;
    plan.starts[j].option = 0;
    plan.starts[j].start = placed.start;
  }
  return plan;
}

/// The problem of the jobs that the plan starts.
horizon::Problem placed_problem(const BoundProblem& bound, const horizon::Plan& plan) {
  horizon::Problem problem = bound.problem;
  problem.jobs.clear();
  for (std::size_t j = 0; j < plan.starts.size(); ++j) {
    if (plan.starts[j].placed()) problem.jobs.push_back(bound.problem.jobs[j]);
  }
  return problem;
}

/// No plan completes the jobs earlier: the last of their earliest completions, each alone; or one
/// second after the last node of the prices, when these refute that node as the last completion.
std::int64_t earliest_makespan(const horizon::Problem& problem,
                               const horizon::PriceCertificate& prices) {
  std::int64_t bound = problem.now;
  for (const horizon::Job& job : problem.jobs) {
    const auto options = problem.options_of(job);
    const auto fastest = std::ranges::min_element(options, {}, &horizon::Option::duration);
    bound = std::max(bound, job.release + fastest->duration);
  }
  if (prices.nodes.empty() || prices.nodes.back() < bound) return bound;
  return refutes_makespan(problem, prices.nodes.back(), prices) ? prices.nodes.back() + 1 : bound;
}

/// Last completion of the jobs that the plan starts, and its bound, in seconds from now. Running
/// jobs that stay end when they end: they count on neither side.
HorizonJudgement judge_makespan(const InstanceView& instance, const Horizon& horizon,
                                const model::Placement& placements,
                                std::span<const std::int64_t> ends,
                                const model::PriceCurves& prices) {
  const BoundProblem bound = bound_problem(instance, horizon, prices);
  const horizon::Plan plan = placed_jobs(bound, placements);
  HorizonJudgement judged;
  std::int64_t last = horizon.now;
  for (std::size_t p = 0; p < placements.size(); ++p) {
    const model::Job& job = instance.workload.job(placements[p].job);
    if (is_decided(instance, horizon, job)) last = std::max(last, ends[p]);
  }
  for (std::size_t j = 0; j < bound.jobs.size(); ++j) {
    if (!plan.starts[j].placed()) judged.required_missing.push_back(bound.jobs[j]);
  }
  const std::int64_t least =
      earliest_makespan(placed_problem(bound, plan), certificate_of(instance, bound, prices));
  judged.figures.objective = static_cast<double>(last - horizon.now);
  judged.figures.bound = static_cast<double>(least - horizon.now);
  judged.figures.gap =
      (judged.figures.objective - judged.figures.bound) / std::max(judged.figures.bound, 1e-12);
  return judged;
}

void count_jobs(const InstanceView& instance, const Horizon& horizon,
                const model::Placement& placements, model::HorizonFigures& figures) {
  figures.jobs_total = std::ssize(model::planned_jobs(instance.workload));
  for (const model::JobPlacement& placed : placements) {
    ++(placed.start <= horizon.now ? figures.jobs_now : figures.jobs_later);
  }
}

}  // namespace

HorizonJudgement judge_horizon(const InstanceView& instance, const Horizon& horizon,
                               const model::Placement& placements,
                               std::span<const std::int64_t> ends,
                               const model::PriceCurves& prices) {
  HorizonJudgement judged;
  if (horizon.objective == model::HorizonObjective::makespan) {
    judged = judge_makespan(instance, horizon, placements, ends, prices);
    count_jobs(instance, horizon, placements, judged.figures);
    return judged;
  }
  count_jobs(instance, horizon, placements, judged.figures);
  Int128 cost = stop_costs(instance, horizon), running = cost;
  for (std::size_t p = 0; p < placements.size(); ++p) {
    const Int128 one = cost_of(instance, horizon, placements[p], ends[p]);
    cost += one;
    const model::Job& job = instance.workload.job(placements[p].job);
    if (!is_decided(instance, horizon, job)) running += one;
  }
  const BoundProblem bound = bound_problem(instance, horizon, prices);
  const HorizonProof proof = prove_horizon(bound.problem, placed_jobs(bound, placements),
                                           certificate_of(instance, bound, prices));
  const bool minimised = model::minimised(horizon.objective);
  for (const JobId job : proof.required_missing) {
    judged.required_missing.push_back(bound.jobs[job.index()]);
  }
  const auto real = [](Int128 x) {
    return std::ldexp(static_cast<double>(x), -horizon::kPriceFractionBits);
  };
  const double sign = minimised ? 1.0 : -1.0;
  model::HorizonFigures& figures = judged.figures;
  figures.objective = sign * real(cost) + 0.0;
  figures.bound = sign * (proof.bound + real(running)) + 0.0;
  const double above = sign * (figures.objective - figures.bound);  // >= 0 but for rounding
  if (above < 0.0 && above > -1e-12 * std::abs(figures.bound)) figures.bound = figures.objective;
  figures.gap =
      sign * (figures.objective - figures.bound) / std::max(std::abs(figures.bound), 1e-12) + 0.0;
  return judged;
}

std::string horizon_proof_digest(const Horizon& horizon, const model::HorizonFigures& figures,
                                 const model::PriceCurves& prices) {
  model::Sha256 sha;
  sha.text(model::to_string(horizon.objective)).integer(horizon.now).integer(horizon.length);
  sha.real(figures.objective).real(figures.bound);
  for (const std::int64_t node : prices.nodes) sha.integer(node);
  const auto add_curve = [&](const std::string& name, const auto& curve) {
    sha.name(name);
    for (const std::int64_t price : curve.starts) sha.integer(price);
    for (const std::int64_t slope : curve.slopes) sha.integer(slope);
  };
  for (const model::PriceCurves::Curve& curve : prices.curves) add_curve(curve.gpu_type, curve);
  for (const model::PriceCurves::QuotaCurve& curve : prices.quotas) add_curve(curve.queue, curve);
  for (const model::PriceCurves::MultipleCurve& curve : prices.multiples) {
    add_curve(curve.gpu_type, curve);
    sha.integer(curve.gpus);
  }
  for (const auto& budget : prices.budgets) sha.name(budget.queue).integer(budget.price);
  for (const auto& one : prices.sizes) {
    sha.name(one.gpu_type).integer(one.gpus).integer(one.factor);
  }
  for (const auto& one : prices.shares) sha.name(one.job).name(one.after).integer(one.share);
  for (const auto& one : prices.factors) {
    sha.name(one.gpu_type).integer(one.shape.gpus).integer(one.shape.gpu_milli);
    for (std::size_t r = 0; r < model::kResources; ++r) sha.integer(one.shape.needs[r]);
    sha.integer(one.factor);
  }
  return sha.hex();
}

}  // namespace berth::certify
