// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "berth/model/instance.hpp"

namespace berth::test {

struct TinyTask {
  std::int32_t count = 1;
  std::int32_t gpus = 0;
  std::int32_t gpu_milli = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::int64_t nic_mbps = 0;
  std::int64_t power_w = 0;
  std::string label = "task";
};

/// Builds an instance by hand, in order: types, classes, then pods, racks, machines, then jobs.
class Tiny {
 public:
  model::Instance instance;

  GpuTypeId type(const std::string& name) {
    instance.cluster.gpu_types.push_back(name);
    return GpuTypeId(instance.cluster.gpu_types.size() - 1);
  }
  ClassId machine_class(const std::string& name, GpuTypeId gpu_type, std::int32_t gpus,
                        std::int64_t cpu_milli, std::int64_t memory_mib) {
    instance.cluster.classes.push_back(
        {name, gpu_type, gpus, model::machine_capacity({cpu_milli, memory_mib})});
    return ClassId(instance.cluster.classes.size() - 1);
  }
  model::MachineClass& operator[](ClassId c) { return instance.cluster.classes[c.index()]; }
  PodId pod() {
    instance.cluster.pods.push_back(
        {.name = "pod-" + std::to_string(instance.cluster.pods.size())});
    return PodId(instance.cluster.pods.size() - 1);
  }
  RackId rack() {
    instance.cluster.racks.push_back(
        {.name = "rack-" + std::to_string(instance.cluster.racks.size()),
         .pod = PodId(instance.cluster.pods.size() - 1)});
    return RackId(instance.cluster.racks.size() - 1);
  }
  MachineId machine(ClassId c) {
    model::Cluster& cluster = instance.cluster;
    cluster.machine_names.add("m" + std::to_string(cluster.machines()));
    cluster.machine_class.push_back(c);
    cluster.machine_rack.push_back(RackId(cluster.racks.size() - 1));
    return MachineId(cluster.machines() - 1);
  }
  JobId job(const std::vector<TinyTask>& tasks) {
    model::Workload& w = instance.workload;
    const JobId id(w.job_names.add("j" + std::to_string(w.jobs.size())));
    model::Job& added = w.jobs.emplace_back();
    added.first_group = static_cast<std::uint32_t>(w.groups.size());
    added.groups = static_cast<std::uint32_t>(tasks.size());
    for (const TinyTask& t : tasks) {
      w.groups.push_back(
          {shape({{t.cpu_milli, t.memory_mib, t.nic_mbps, t.power_w}, t.gpus, t.gpu_milli}),
           t.count, label(t.label)});
    }
    return id;
  }
  /// The job runs there now, and may stay, move or stop.
  model::Running& run(JobId id, std::vector<model::TaskPlacement> tasks) {
    model::Workload& w = instance.workload;
    (*this)[id].running = static_cast<std::int32_t>(w.running.size());
    w.running.push_back({.job = id,
                         .first_task = static_cast<std::uint32_t>(w.running_tasks.size()),
                         .tasks = static_cast<std::uint32_t>(tasks.size()),
                         .rules = (*this)[id].rules});
    w.running_tasks.insert(w.running_tasks.end(), tasks.begin(), tasks.end());
    return w.running.back();
  }
  /// The job is pinned there. @pre called in order of machines
  void pin(JobId id, const std::vector<model::TaskPlacement>& tasks) {
    model::Workload& w = instance.workload;
    run(id, tasks).pinned = true;
    for (const model::TaskPlacement& t : tasks) {
      const model::Shape& s = w.shape(w.groups_of((*this)[id])[t.group].shape);
      use({t.machine, t.devices, t.milli, s.needs, id});
    }
  }
  /// Adds content of no job. @pre called in order of machines
  void use(const model::Immovable& content) { instance.cluster.immovable.push_back(content); }
  void state(MachineId m, model::MachineState to) {
    instance.cluster.machine_state.resize(instance.cluster.machines());
    instance.cluster.machine_state[m.index()] = to;
  }
  model::Job& operator[](JobId id) { return instance.workload.jobs[id.index()]; }
  /// Gives the job rules, and links the rules of all jobs.
  void rule(JobId id, const model::PlacementRules& rules) {
    auto& rows = instance.workload.rules;
    (*this)[id].rules = static_cast<std::uint32_t>(rows.size());
    rows.push_back(rules);
    model::link_rules(rows);
  }
  std::uint32_t factors(const model::Factors& row) {
    instance.workload.factors.push_back(row);
    return static_cast<std::uint32_t>(instance.workload.factors.size() - 1);
  }
  /// Adds a row with one entry per GPU type; row 0 (all ones) is added on first use.
  std::uint32_t speeds(const std::vector<double>& row) {
    model::Workload& w = instance.workload;
    w.speed_types = static_cast<std::uint32_t>(row.size());
    if (w.speeds.empty()) w.speeds.assign(row.size(), 1.0);
    w.speeds.insert(w.speeds.end(), row.begin(), row.end());
    return static_cast<std::uint32_t>(w.speeds.size() / row.size() - 1);
  }
  ShapeId shape(const model::Shape& s) {
    auto& shapes = instance.workload.shapes;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (shapes[i] == s) return ShapeId(i);
    }
    shapes.push_back(s);
    return ShapeId(shapes.size() - 1);
  }

 private:
  std::uint32_t label(const std::string& name) {
    auto& labels = instance.workload.labels;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] == name) return static_cast<std::uint32_t>(i);
    }
    labels.push_back(name);
    return static_cast<std::uint32_t>(labels.size() - 1);
  }
};

}  // namespace berth::test
