// SPDX-License-Identifier: Apache-2.0
#include "horizon_factors.hpp"

#include "horizon_mix.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "berth/certify/horizon_plan.hpp"
#include "berth/horizon/machine_timeline.hpp"
#include "berth/planner_model/room.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/configuration_lp.hpp"
#include "berth/solver/horizon_makespan.hpp"

namespace berth::pipeline {
namespace {

using horizon::Gpus;
using horizon::kRentUnit;
using horizon::Option;
using horizon::Problem;
using horizon::Seconds;
using model::InstanceView;
using model::Shape;
using solver::JobGroup;

/// Factors before they are scaled; the largest is about this.
constexpr double kCoarse = 0x1p30;
/// As for a plan of one moment (configurations.cpp).
constexpr int kMostBins = 8192;
/// What a GPU earns by slot when all are taken by the mean job: the first prices.
std::vector<double> first_prices(const solver::JobCounts& mix, std::size_t slots, double gpus) {
  double value = 0.0;
  for (const auto& [group, count] : mix) {
    value += static_cast<double>(count) * group.options.front().value;
  }
  return std::vector<double>(slots, value / std::max(1.0, 1000.0 * gpus));
}

/// Prices of tasks by (shape, type), where the contents of machines have some.
using Prices = std::map<std::pair<ShapeId, GpuTypeId>, double>;

Prices prices_of_mix(const InstanceView& instance, const model::Horizon& horizon,
                     const HorizonProblem& translated, const StopToken& stop) {
  const model::Cluster& cluster = instance.cluster;
  std::vector<MachineId> machines;
  for (std::size_t m = 0; m < cluster.machines(); ++m) machines.emplace_back(m);
  const auto bins = solver::bin_types(cluster, planner_model::Room(cluster), machines, kMostBins);
  double gpus = 0.0;
  for (const auto& bin : bins) {
    gpus += static_cast<double>(bin.milli()) / 1000.0 * static_cast<double>(bin.machines.size());
  }
  solver::JobCounts mix = mix_in_time(instance, horizon, translated);
  const auto start = first_prices(mix, cluster.gpu_types.size() + 1, gpus);
  const auto solution = solver::solve_configuration_lp(instance, bins, std::move(mix),
                                                       {.gpu_price = start}, {}, stop);
  Prices prices;
  const bool one_type =  // the judge's rule: other tasks without GPUs pay nothing
      translated.types.size() == 1 && std::ranges::all_of(cluster.machine_class, [&](ClassId c) {
        return cluster.classes[c.index()].gpus > 0;
      });
  for (const solver::TaskPrice& price : solution.prices) {
    if (price.gpu_type.valid()) prices[{price.shape, price.gpu_type}] = price.price;
    if (!price.gpu_type.valid() && one_type) {
      prices[{price.shape, translated.types.front()}] = price.price;
    }
  }
  return prices;
}

/// Factors of a type: its prices x scale; without prices, its GPUs.
void add_type(const InstanceView& instance, GpuTypeId type, const Prices& prices, double scale,
              FactorsOfShapes& factors) {
  const std::vector<Shape>& shapes = instance.workload.tables().shapes;
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    const auto price = prices.find({ShapeId(s), type});
    double factor = price == prices.end() ? 0.0 : scale * price->second;
    if (scale == 0.0) {
      factor = static_cast<double>(kRentUnit * shapes[s].total_milli() / 1000);
    }
    const auto rounded = static_cast<std::int64_t>(std::llround(factor));
    if (rounded == 0) continue;
    factors.push_back({.shape = shapes[s],
                       .gpu_type = instance.cluster.gpu_types[type.index()],
                       .factor = rounded});
  }
}

double first_worth(const std::vector<horizon::CapacityStep>& steps) {
  double most = 0.0;
  for (const auto& step : steps) most = std::max(most, static_cast<double>(step.gpus));
  return most;
}

/// The bound on the makespan, for comparison: over the jobs that machines hold, as the plan's is.
solver::HorizonBound bound_of_makespan(const horizon::Problem& problem, solver::DualRanks* ranks,
                                       const StopToken& stop) {
  horizon::MachineTimeline timeline(problem);
  const horizon::Plan plan = solver::longest_first(problem, timeline);
  solver::HorizonBound bound;
  bound.bound =
      static_cast<double>(solver::bound_makespan_of_placed(problem, plan, stop, ranks).bound);
  return bound;
}

solver::HorizonBound bound_of(const horizon::Problem& problem, model::HorizonObjective objective,
                              solver::DualRanks* ranks, const StopToken& stop) {
  return objective == model::HorizonObjective::makespan
             ? bound_of_makespan(problem, ranks, stop)
             : solver::bound_horizon(problem, {.ranks = ranks}, stop);
}

FactorsOfShapes shape_factors(const InstanceView& instance, const model::Horizon& horizon,
                              const HorizonProblem& translated, const StopToken& stop) {
  const Prices prices = prices_of_mix(instance, horizon, translated, stop);
  if (prices.empty()) return {};
  std::vector<double> scales;
  model::PriceCurves coarse;
  for (const GpuTypeId type : translated.types) {
    double largest = 0.0;
    for (const auto& [key, price] : prices) {
      if (key.second == type) largest = std::max(largest, price);
    }
    scales.push_back(largest > 0.0 ? kCoarse / largest : 0.0);
    add_type(instance, type, prices, scales.back(), coarse.factors);
  }
  const auto worth = certify::worth_in_time(instance, horizon, coarse);
  FactorsOfShapes factors;
  for (std::size_t t = 0; t < translated.types.size(); ++t) {
    Gpus gpus = 0;
    for (const auto& pool : translated.problem.pools) {
      if (pool.curve.index() != t) continue;
      Gpus most = 0;
      for (const auto& step : pool.capacity) most = std::max(most, step.gpus);
      gpus += most;
    }
    const double scale =
        static_cast<double>(kRentUnit * gpus) / std::max(1.0, first_worth(worth[t]));
    add_type(instance, translated.types[t], prices, scales[t] * scale, factors);
  }
  return factors;
}

Problem with_factors(const InstanceView& instance, const model::Horizon& horizon,
                     const HorizonProblem& translated, const FactorsOfShapes& factors) {
  Problem problem = translated.problem;
  std::map<std::pair<Shape, std::string>, std::int64_t> by_shape;
  for (const auto& one : factors) by_shape[{one.shape, one.gpu_type}] = one.factor;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    const auto groups = instance.workload.groups_of(instance.workload.job(translated.jobs[j]));
    for (auto k = problem.jobs[j].options.begin; k < problem.jobs[j].options.end; ++k) {
      Option& option = problem.options[static_cast<std::size_t>(k)];
      const std::string& type = instance.cluster.gpu_types[pool_type(translated, option).index()];
      const auto tasks = problem.tasks_of(option);
      option.rent = 0;
      for (std::size_t g = 0; g < tasks.size(); ++g) {
        const auto factor = by_shape.find({instance.workload.shape(groups[g].shape), type});
        if (factor != by_shape.end()) option.rent += tasks[g].tasks * factor->second;
      }
    }
  }
  const auto worth =
      certify::worth_in_time(instance, horizon, {.nodes = {}, .curves = {}, .factors = factors});
  for (auto& pool : problem.pools) pool.worth = {{.from = problem.now, .gpus = 0}};
  for (std::size_t t = 0; t < worth.size(); ++t) {
    const auto first = std::ranges::find_if(
        problem.pools, [&](const horizon::Pool& pool) { return pool.curve.index() == t; });
    first->worth = worth[t];
  }
  return problem;
}

}  // namespace

BoundedProblem bound_with_contents(const InstanceView& instance, const model::Horizon& horizon,
                                   const HorizonProblem& translated, solver::DualRanks* ranks,
                                   const StopToken& stop) {
  BoundedProblem by_gpus{.problem = translated.problem,
                         .bound = bound_of(translated.problem, horizon.objective, ranks, stop),
                         .factors = {}};
  FactorsOfShapes factors = shape_factors(instance, horizon, translated, stop);
  if (factors.empty()) return by_gpus;
  BoundedProblem by_shapes{.problem = with_factors(instance, horizon, translated, factors),
                           .bound = {},
                           .factors = std::move(factors)};
  by_shapes.bound = bound_of(by_shapes.problem, horizon.objective, ranks, stop);
  return by_shapes.bound.bound > by_gpus.bound.bound ? by_shapes : by_gpus;
}

}  // namespace berth::pipeline
