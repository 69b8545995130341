// SPDX-License-Identifier: Apache-2.0
#include "job_table.hpp"

#include <algorithm>

#include "berth/base/infinity.hpp"
#include "berth/model/free_machine.hpp"
#include "berth/planner_model/home.hpp"
#include "berth/planner_model/option_enumerator.hpp"

namespace berth::solver::bounding {
namespace {

using model::InstanceView;
using model::Job;
using model::Level;

/// In GPUs.
std::vector<TypeCapacity> capacities_by_type(const model::Cluster& cluster) {
  std::vector<TypeCapacity> types(cluster.gpu_types.size());
  for (std::size_t t = 0; t < types.size(); ++t) types[t].type = GpuTypeId(t);
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const model::MachineClass& c = cluster.class_of(MachineId(m));
    if (c.gpus == 0) continue;
    TypeCapacity& t = types[c.gpu_type.index()];
    const RackId rack = cluster.machine_rack[m];
    const PodId pod = cluster.racks[rack.index()].pod;
    if (t.pods.empty() || t.pods.back().pod != pod) t.pods.push_back({pod, 0, {}, 0});
    PodCapacity& p = t.pods.back();
    if (p.racks.empty() || p.racks.back().rack != rack) p.racks.push_back({rack, 0, 0});
    const int whole = model::FreeMachine(cluster, MachineId(m)).whole_count();
    p.racks.back().gpus += whole;
    p.gpus += whole;
    t.gpus += whole;
  }
  std::erase_if(types, [](const TypeCapacity& t) { return t.gpus == 0; });
  return types;
}

/// Counts capacities in units, rounded down: jobs take whole units of a rack, of a pod over racks,
/// of a type over pods.
void count_in_units(std::int32_t unit, TypeCapacity& type) {
  type.gpus /= unit;
  for (PodCapacity& pod : type.pods) {
    pod.gpus /= unit;
    type.largest_pod = std::max(type.largest_pod, pod.gpus);
    for (RackCapacity& rack : pod.racks) {
      rack.gpus /= unit;
      type.largest_rack = std::max(type.largest_rack, rack.gpus);
    }
  }
}

/// Narrowest width in which some machine or rack of the type could hold the job; cluster + 1 when
/// no machine holds one of its tasks.
int narrowest(const InstanceView& instance, const Job& job, GpuTypeId type) {
  std::int64_t gpus = 0, tasks = 0, largest = 0;
  for (const model::MachineClass& c : instance.cluster.classes) {
    if (c.gpu_type == type) largest = std::max<std::int64_t>(largest, c.gpus);
  }
  for (const model::TaskGroup& g : instance.workload.groups_of(job)) {
    const model::Shape& s = instance.workload.shape(g.shape);
    gpus += std::int64_t{g.count} * s.gpus;
    tasks += g.count;
    const bool somewhere =
        std::ranges::any_of(instance.cluster.classes, [&](const model::MachineClass& c) {
          return c.gpu_type == type && model::FreeMachine(c).count(s, 1) > 0;
        });
    if (s.gpus > 0 && !somewhere) return model::kLevels;
  }
  if (tasks == 1) return static_cast<int>(Level::machine);
  return static_cast<int>(gpus <= largest ? Level::machine : Level::rack);
}

PlaceValues place_values_of(const planner_model::OptionEnumerator& options, GpuTypeId type,
                            int narrowest) {
  PlaceValues found{-kInfinity, -kInfinity, -kInfinity, -kInfinity, -kInfinity, -kInfinity};
  if (narrowest >= model::kLevels) return found;
  const auto entry = [&](const planner_model::JobOption& option) -> double* {
    const Level scope = option.scope.level;
    if (option.width == Level::cluster) return &found.cluster;
    if (option.width == Level::pod) {
      return scope == Level::pod ? &found.wide_home_pod : &found.wide_far;
    }
    if (static_cast<int>(option.width) != narrowest) return nullptr;
    if (scope == Level::rack) return &found.home_rack;
    return scope == Level::pod ? &found.home_pod : &found.far;
  };
  options.for_each_on(type, [&](const planner_model::JobOption& option) {
    if (double* value = entry(option)) *value = options.value(option);
  });
  return found;
}

void number_sizes(JobTable& table) {
  table.sizes = table.size;
  std::ranges::sort(table.sizes);
  const auto twice = std::ranges::unique(table.sizes);
  table.sizes.erase(twice.begin(), twice.end());
  for (const std::int32_t size : table.size) {
    const auto at = std::ranges::lower_bound(table.sizes, size);
    table.size_row.push_back(static_cast<std::uint32_t>(at - table.sizes.begin()));
  }
}

void find_home_jobs(JobTable& table, std::size_t pods) {
  table.home_jobs.resize(pods);
  table.max_home_jobs.assign(table.sizes.size(), 0);
  for (std::uint32_t j = 0; j < table.size.size(); ++j) {
    if (table.home_pod[j].valid()) table.home_jobs[table.home_pod[j].index()].push_back(j);
  }
  for (const auto& jobs : table.home_jobs) {
    std::vector<std::uint32_t> count(table.sizes.size(), 0);
    for (const std::uint32_t j : jobs) {
      const std::uint32_t row = table.size_row[j];
      table.max_home_jobs[row] = std::max(table.max_home_jobs[row], ++count[row]);
    }
  }
}

void number_spots(JobTable& table) {
  const auto next = [&](Spot spot) {
    table.spots.push_back(spot);
    return static_cast<std::uint32_t>(table.spots.size() - 1);
  };
  for (TypeCapacity& type : table.types) {
    for (PodCapacity& pod : type.pods) {
      for (RackCapacity& rack : pod.racks) rack.spot = next({type.type, pod.pod, rack.rack});
      pod.spot = next({type.type, pod.pod, {}});
    }
    type.spot = next({type.type, {}, {}});
  }
}

}  // namespace

double JobTable::value_at(std::uint32_t job, std::uint32_t spot) const {
  const Spot& at = spots[spot];
  const auto of_type = std::ranges::find(types, at.type, &TypeCapacity::type);
  const PlaceValues& values = of_type->place_values[job];
  if (!at.pod.valid()) return values.cluster;
  const bool home = at.pod == home_pod[job];
  if (!at.rack.valid()) return home ? values.wide_home_pod : values.wide_far;
  if (at.rack == home_rack[job]) return values.home_rack;
  return home ? values.home_pod : values.far;
}

JobTable make_job_table(const planner_model::Valuation& valuation, std::span<const JobId> jobs,
                        std::int32_t unit) {
  const InstanceView& instance = valuation.instance();
  JobTable table;
  table.unit = unit;
  for (const JobId id : jobs) {
    const Job& job = instance.workload.job(id);
    table.size.push_back(static_cast<std::int32_t>(instance.workload.gpu_milli(job) / 1000 / unit));
    table.home_rack.push_back(job.home_rack);
    table.home_pod.push_back(planner_model::home_pod(instance.cluster, job));
  }
  number_sizes(table);
  find_home_jobs(table, instance.cluster.pods.size());
  table.types = capacities_by_type(instance.cluster);
  for (TypeCapacity& type : table.types) count_in_units(unit, type);
  number_spots(table);
  for (const JobId id : jobs) {
    const Job& job = instance.workload.job(id);
    const planner_model::OptionEnumerator options(valuation, id);
    for (TypeCapacity& type : table.types) {
      const int width = planner_model::allows(job, type.type) ? narrowest(instance, job, type.type)
                                                              : model::kLevels;
      type.place_values.push_back(place_values_of(options, type.type, width));
    }
  }
  return table;
}

}  // namespace berth::solver::bounding
