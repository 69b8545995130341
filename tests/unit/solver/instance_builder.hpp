// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "berth/base/random.hpp"
#include "berth/planner_model/pools.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::test {

/// Builds small instances: machines and jobs one call each, speeds and factors by value.
struct InstanceBuilder {
  model::Instance instance;
  std::vector<MachineId> machines;
  std::vector<JobId> jobs;

  explicit InstanceBuilder(std::vector<std::string> types) {
    instance.cluster.gpu_types = std::move(types);
    instance.workload.speed_types = static_cast<std::uint32_t>(instance.cluster.gpu_types.size());
    instance.workload.speeds.assign(instance.cluster.gpu_types.size(), 1.0);
  }

  PodId pod() {
    instance.cluster.pods.emplace_back();
    return PodId(instance.cluster.pods.size() - 1);
  }

  RackId rack(PodId pod) {
    instance.cluster.racks.emplace_back();
    instance.cluster.racks.back().pod = pod;
    return RackId(instance.cluster.racks.size() - 1);
  }

  /// Machines of the last rack; type -1 = without GPUs.
  void add_machines(int count, int type, int gpus, std::int64_t cpu_milli = 64'000) {
    model::Cluster& cluster = instance.cluster;
    model::MachineClass c;
    c.gpu_type = GpuTypeId(type);
    c.gpus = gpus;
    c.capacity[model::kCpu] = cpu_milli;
    std::size_t index = 0;
    while (index < cluster.classes.size() && !(cluster.classes[index].gpu_type == c.gpu_type &&
                                               cluster.classes[index].gpus == gpus)) {
      ++index;
    }
    if (index == cluster.classes.size()) cluster.classes.push_back(c);
    for (int i = 0; i < count; ++i) {
      machines.emplace_back(cluster.machines());
      cluster.machine_names.add("m" + std::to_string(machines.size()));
      cluster.machine_class.emplace_back(index);
      cluster.machine_rack.emplace_back(cluster.racks.size() - 1);
    }
  }

  struct Wanted {
    int tasks = 1, gpus = 1, milli = 0;
    std::int64_t cpu = 0;
    double weight = 1.0;
    std::vector<double> speed = {};  ///< by type; empty = 1
    model::Factors home_factor = {1.0, 1.0, 1.0, 1.0}, spread = {1.0, 1.0, 1.0, 1.0};
    RackId home = {};
    model::Level domain = model::Level::cluster;
    std::uint64_t types = ~std::uint64_t{0};
    bool required = false;
  };

  JobId job(const Wanted& wanted) {
    model::Workload& w = instance.workload;
    model::Shape shape;
    shape.gpus = wanted.gpus;
    shape.gpu_milli = wanted.milli;
    shape.needs[model::kCpu] = wanted.cpu;
    const auto known = std::ranges::find(w.shapes, shape);
    const ShapeId id(static_cast<std::size_t>(known - w.shapes.begin()));
    if (known == w.shapes.end()) w.shapes.push_back(shape);
    w.groups.push_back({.shape = id, .count = wanted.tasks});
    model::Job job;
    job.first_group = static_cast<std::uint32_t>(w.groups.size() - 1);
    job.groups = 1;
    job.weight = wanted.weight;
    job.required = wanted.required;
    job.domain = wanted.domain;
    job.gpu_types = wanted.types;
    job.home_rack = wanted.home;
    if (!wanted.speed.empty()) {
      job.speed = static_cast<std::uint32_t>(w.speeds.size() / w.speed_types);
      w.speeds.insert(w.speeds.end(), wanted.speed.begin(), wanted.speed.end());
    }
    w.factors.push_back(wanted.home_factor);
    job.home_factor = static_cast<std::uint32_t>(w.factors.size() - 1);
    w.factors.push_back(wanted.spread);
    job.width_factor = static_cast<std::uint32_t>(w.factors.size() - 1);
    w.jobs.push_back(job);
    jobs.emplace_back(w.jobs.size() - 1);
    return jobs.back();
  }

  [[nodiscard]] planner_model::Valuation value() const {
    return {instance, model::Objective::value};
  }
  [[nodiscard]] planner_model::Pools pools(model::Level level = model::Level::rack) const {
    return planner_model::make_pools(instance.cluster, level);
  }
};

/// Two types, 4 pods of 4 racks of 4 machines with 8 GPUs; single tasks, gangs of several widths,
/// shares, type limits, homes, spread factors. Values are halves, so that sums are exact.
inline InstanceBuilder mixed_instance(std::uint64_t seed, int count) {
  InstanceBuilder plan({"A", "B"});
  for (int p = 0; p < 4; ++p) {
    const PodId pod = plan.pod();
    for (int r = 0; r < 4; ++r) {
      plan.rack(pod);
      plan.add_machines(4, (p + r) % 2, 8);
    }
  }
  for (int j = 0; j < count; ++j) {
    const auto draw = [&](std::uint64_t what, std::uint64_t bound) {
      return random_below(bound, {seed, static_cast<std::uint64_t>(j), what});
    };
    InstanceBuilder::Wanted wanted;
    wanted.gpus = 1 << draw(0, 4);
    wanted.tasks = draw(1, 3) == 0 ? 2 + static_cast<int>(draw(2, 5)) : 1;
    if (draw(3, 8) == 0) wanted.gpus = 0, wanted.milli = 250, wanted.tasks = 1;
    wanted.weight = 0.5 * static_cast<double>(1 + draw(4, 8));
    wanted.speed = {1.0 + 0.5 * static_cast<double>(draw(5, 3)),
                    1.0 + 0.5 * static_cast<double>(draw(6, 3))};
    if (draw(7, 2) == 0) {
      wanted.home = RackId(static_cast<std::int32_t>(draw(8, 16)));
      wanted.home_factor = {1.0, 1.0, 0.75, 0.5};
    }
    if (wanted.tasks > 1) {
      wanted.spread = {1.0, 1.0, 0.75, 0.5};
      wanted.domain = static_cast<model::Level>(1 + draw(9, 3));
    }
    if (draw(10, 4) == 0) wanted.types = 1 + draw(11, 2);
    plan.job(wanted);
  }
  return plan;
}

}  // namespace berth::test
