// SPDX-License-Identifier: Apache-2.0
#include "disaggregation.hpp"

#include "dual_bound.hpp"

#include <algorithm>
#include <tuple>

namespace berth::solver {
namespace {

/// Scaled value of one task of a job, reward included, on a slot where its type is allowed.
double value_on(const PackingProblem& problem, const planner_model::Valuation& valuation,
                const JobType& type, JobId job, std::size_t slot) {
  const GpuTypeId gpu = type.shape.uses_gpu() ? GpuTypeId(slot - 1) : GpuTypeId{};
  return task_value(valuation, job, type.shape_id, gpu) / problem.unit + type.reward;
}

/// Jobs of a type with positive priced profit (`in`), the others (`out`), and the loss that the
/// type's mean value causes in the bound (scaled).
struct TypeSplit {
  std::vector<JobId> in, out;
  double loss = 0.0;
};

TypeSplit split_by_price(const PackingProblem& problem, const planner_model::Valuation& valuation,
                         const JobType& type, const ScaledPrices& prices) {
  TypeSplit c;
  const auto slots = slots_that_fit(problem, type);
  double by_mean = 0.0;
  for (const std::size_t slot : slots) {
    by_mean = std::max(by_mean, type.value[slot] - prices.at({type.shape_id, slot}));
  }
  for (const JobId job : type.jobs) {
    double kept = -1.0;
    for (const std::size_t slot : slots) {
      kept = std::max(
          kept, value_on(problem, valuation, type, job, slot) - prices.at({type.shape_id, slot}));
    }
    (kept > 0.0 ? c.in : c.out).push_back(job);
    c.loss += std::max(kept, 0.0);
  }
  c.loss -= by_mean * static_cast<double>(type.jobs.size());
  return c;
}

/// A copy of `type` for these jobs, valued at their mean.
JobType with_jobs(const PackingProblem& problem, const planner_model::Valuation& valuation,
                  const JobType& type, std::vector<JobId> jobs) {
  JobType part = type;
  part.jobs = std::move(jobs);
  for (std::size_t slot = 0; slot < part.value.size(); ++slot) {
    if (type.value[slot] <= 0.0) continue;
    double sum = 0.0;
    for (const JobId job : part.jobs) sum += value_on(problem, valuation, type, job, slot);
    part.value[slot] = sum / static_cast<double>(part.jobs.size());
  }
  return part;
}

}  // namespace

Disaggregation disaggregate(PackingProblem& problem, const planner_model::Valuation& valuation,
                            std::span<const double> type_price, int budget) {
  const ScaledPrices prices = scaled_prices(problem, type_price);
  std::vector<std::tuple<double, std::size_t, TypeSplit>> splits;
  Disaggregation split;
  for (std::size_t t = 0; t < problem.types.size(); ++t) {
    if (problem.types[t].jobs.size() < 2) continue;
    TypeSplit c = split_by_price(problem, valuation, problem.types[t], prices);
    split.loss += c.loss;
    if (!c.in.empty() && !c.out.empty()) splits.emplace_back(-c.loss, t, std::move(c));
  }
  std::ranges::sort(splits, {},
                    [](const auto& e) { return std::tuple(std::get<0>(e), std::get<1>(e)); });
  for (auto& [loss, t, c] : splits) {
    if (split.types >= budget || -loss <= 1e-9) break;
    const JobType whole = problem.types[t];
    problem.types[t] = with_jobs(problem, valuation, whole, std::move(c.in));
    problem.types.push_back(with_jobs(problem, valuation, whole, std::move(c.out)));
    ++split.types;
  }
  return split;
}

}  // namespace berth::solver
