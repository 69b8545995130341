// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/model/instance.hpp"

namespace berth::test {

/// Two pods; pod 0 has racks r0 (m0, m1) and r1 (m2), pod 1 has r2 (m3). All of 4 GPUs.
inline model::Instance two_pods() {
  model::Instance instance;
  model::Cluster& cluster = instance.cluster;
  cluster.gpu_types = {"A", "B"};
  cluster.classes = {{.name = "c",
                      .gpu_type = GpuTypeId(0),
                      .gpus = 4,
                      .capacity = model::machine_capacity({8000, 1000})}};
  cluster.pods = {{.name = "p0"}, {.name = "p1"}};
  cluster.racks = {{.name = "r0", .pod = PodId(0)},
                   {.name = "r1", .pod = PodId(0)},
                   {.name = "r2", .pod = PodId(1)}};
  for (const int rack : {0, 0, 1, 2}) {
    cluster.machine_names.add("m" + std::to_string(cluster.machines()));
    cluster.machine_class.emplace_back(0);
    cluster.machine_rack.emplace_back(rack);
  }
  instance.workload.labels = {"worker"};
  return instance;
}

/// A job of one task group.
inline model::Job& add_job(model::Instance& instance, const model::Shape& shape,
                           std::int32_t count) {
  model::Workload& w = instance.workload;
  w.job_names.add("j" + std::to_string(w.jobs.size()));
  w.shapes.push_back(shape);
  w.groups.push_back({.shape = ShapeId(w.shapes.size() - 1), .count = count});
  w.jobs.emplace_back();
  w.jobs.back().first_group = static_cast<std::uint32_t>(w.groups.size() - 1);
  w.jobs.back().groups = 1;
  return w.jobs.back();
}

}  // namespace berth::test
