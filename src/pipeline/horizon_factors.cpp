// SPDX-License-Identifier: Apache-2.0
#include "horizon_factors.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "berth/certify/horizon_plan.hpp"
#include "berth/planner_model/room.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/configuration_lp.hpp"

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
/// Of the time that all jobs take on all GPUs: when prices of flow time are those of the mix.
constexpr double kMiddle = 0.5;

GpuTypeId type_of(const HorizonProblem& translated, const Option& option) {
  const auto pool = translated.problem.pools_of(option).front();
  return translated.types[translated.problem.pools[pool.index()].curve.index()];
}

/// What the option gains, per second that it takes.
double gain_rate(const Problem& problem, const horizon::Job& job, const Option& option) {
  const auto cost = problem.cost_of(option);
  const double gain = job.required && cost.back().slope > 0.0
                          ? cost.back().slope
                          : -cost_at(cost, job.release + option.duration);
  return gain / static_cast<double>(option.duration);
}

/// Seconds over which the jobs are spread.
double span_of(const Problem& problem, const model::Horizon& horizon) {
  if (!model::minimised(horizon.objective)) return static_cast<double>(horizon.length);
  double work = 0.0, gpus = 1.0;
  for (const auto& job : problem.jobs) {
    const auto options = problem.options_of(job);
    if (options.empty()) continue;
    work += gpus_of(options.front()) * static_cast<double>(options.front().duration);
  }
  for (const auto& pool : problem.pools) gpus += static_cast<double>(pool.capacity.front().gpus);
  return std::max(1.0, kMiddle * work / gpus);
}

/// Groups of the jobs that are planned at a time: of equal jobs in order, every so many-th.
solver::JobCounts mix_of(const InstanceView& instance, const model::Horizon& horizon,
                         const HorizonProblem& translated) {
  const Problem& problem = translated.problem;
  const double span = span_of(problem, horizon);
  const planner_model::Valuation values(instance, model::Objective::value);
  const solver::JobGrouping grouping(values);
  std::vector<std::pair<JobGroup, double>> all;  // with its part of the time
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    JobGroup group = grouping(translated.jobs[j]);
    group.required = false;
    group.options.clear();
    double part = 1.0;
    for (const Option& option : problem.options_of(problem.jobs[j])) {
      if (gpus_of(option) == 0.0) continue;
      const GpuTypeId type = type_of(translated, option);
      const double value = span * gain_rate(problem, problem.jobs[j], option);
      const bool known = std::ranges::any_of(
          group.options, [&](const JobGroup::Option& o) { return o.type == type; });
      if (value > 0.0 && !known) group.options.push_back({type, value});
      part = std::min(part, static_cast<double>(option.duration) / span);
    }
    std::ranges::sort(group.options);
    if (!group.options.empty()) all.emplace_back(std::move(group), part);
  }
  std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.first < b.first; });
  solver::JobCounts mix;
  double sum = 0.5;
  for (auto& [group, part] : all) {
    sum += part;
    if (sum < 1.0) continue;
    sum -= 1.0;
    mix.emplace_back(std::move(group), 1);
  }
  merge_equal(mix);
  return mix;
}

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
  solver::JobCounts mix = mix_of(instance, horizon, translated);
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

}  // namespace

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
      const std::string& type = instance.cluster.gpu_types[type_of(translated, option).index()];
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

}  // namespace berth::pipeline
