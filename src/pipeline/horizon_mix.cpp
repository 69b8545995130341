// SPDX-License-Identifier: Apache-2.0
#include "horizon_mix.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "berth/planner_model/room.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::pipeline {
namespace {

using horizon::Option;
using horizon::Problem;
using model::InstanceView;
using solver::JobGroup;

/// Of the time that all jobs take on all GPUs: when prices of flow time are those of the mix.
constexpr double kMiddle = 0.5;
/// Tasks of the most frequent shape in a bundle of work; less than a part of it counts as one.
constexpr double kTasksOfBundle = 1024.0;
/// More bundles of work than any cluster holds at a time.
constexpr std::int64_t kBundles = 1'000'000;

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
solver::JobCounts mix_of_gains(const InstanceView& instance, const model::Horizon& horizon,
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
      const GpuTypeId type = pool_type(translated, option);
      const horizon::Job& job = problem.jobs[j];
      const double value = span * gain_rate(problem, job, option, job.release);
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

/// By shape: true when some machine of the type holds a task. O(shapes x machines)
std::vector<bool> held_on(const InstanceView& instance, GpuTypeId type) {
  const model::Cluster& cluster = instance.cluster;
  const planner_model::Room room(cluster);
  std::vector<bool> held;
  for (const model::Shape& shape : instance.workload.tables().shapes) {
    bool found = false;
    for (std::size_t m = 0; m < cluster.machines() && !found; ++m) {
      found = cluster.class_of(MachineId(m)).gpu_type == type && room.fits(MachineId(m), shape);
    }
    held.push_back(found);
  }
  return held;
}

/// Seconds of tasks by shape, of the jobs that machines of a type hold.
std::map<ShapeId, double> work_on(const InstanceView& instance, const HorizonProblem& translated,
                                  GpuTypeId type) {
  const std::vector<bool> held = held_on(instance, type);
  std::map<ShapeId, double> work;
  const Problem& problem = translated.problem;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    const auto groups = instance.workload.groups_of(instance.workload.job(translated.jobs[j]));
    const auto fits = [&](const model::TaskGroup& group) { return held[group.shape.index()]; };
    if (!std::ranges::all_of(groups, fits)) continue;
    for (const Option& option : problem.options_of(problem.jobs[j])) {
      if (gpus_of(option) == 0.0 || pool_type(translated, option) != type) continue;
      const auto tasks = problem.tasks_of(option);
      for (std::size_t g = 0; g < tasks.size(); ++g) {
        work[groups[g].shape] +=
            static_cast<double>(tasks[g].tasks) * static_cast<double>(option.duration);
      }
      break;
    }
  }
  return work;
}

/// By GPU type one bundle with tasks of each shape in proportion to their seconds: a cluster that
/// holds the most bundles at a time completes all tasks first, and the prices of that packing are
/// the dual of cutting stock (Gilmore and Gomory 1961).
solver::JobCounts mix_of_work(const InstanceView& instance, const HorizonProblem& translated) {
  solver::JobCounts mix;
  for (const GpuTypeId type : translated.types) {
    const auto work = work_on(instance, translated, type);
    double most = 0.0;
    for (const auto& [shape, seconds] : work) most = std::max(most, seconds);
    if (most == 0.0) continue;
    JobGroup bundle;
    bundle.options.push_back({type, 1.0});
    for (const auto& [shape, seconds] : work) {
      const auto tasks = std::llround(kTasksOfBundle * seconds / most);
      bundle.tasks.groups.push_back(
          {shape, static_cast<std::int32_t>(std::max<long long>(1, tasks))});
    }
    mix.emplace_back(std::move(bundle), kBundles);
  }
  merge_equal(mix);
  return mix;
}

}  // namespace

GpuTypeId pool_type(const HorizonProblem& translated, const Option& option) {
  const auto pool = translated.problem.pools_of(option).front();
  return translated.types[translated.problem.pools[pool.index()].curve.index()];
}

double gain_rate(const Problem& problem, const horizon::Job& job, const Option& option,
                 horizon::Seconds start) {
  const auto cost = problem.cost_of(option);
  const double gain = job.required && cost.back().slope > 0.0
                          ? cost.back().slope
                          : -cost_at(cost, start + option.duration);
  return gain / static_cast<double>(option.duration);
}

solver::JobCounts mix_in_time(const InstanceView& instance, const model::Horizon& horizon,
                              const HorizonProblem& translated) {
  return horizon.objective == model::HorizonObjective::makespan
             ? mix_of_work(instance, translated)
             : mix_of_gains(instance, horizon, translated);
}

}  // namespace berth::pipeline
