// SPDX-License-Identifier: Apache-2.0
#include "single_tasks.hpp"

#include <string>
#include <vector>

#include "berth/base/random.hpp"

namespace berth::bench {
namespace {

struct Kind {
  model::Shape shape;
  double weight = 1.0;
};

/// 60 kinds of tasks: half of them shares; CPU and memory roughly in proportion.
std::vector<Kind> kinds() {
  std::vector<Kind> all;
  for (std::uint64_t k = 0; k < 60; ++k) {
    const auto below = [&](std::uint64_t bound, std::uint64_t draw) {
      return static_cast<std::int64_t>(random_below(bound, {17, k, draw}));
    };
    Kind kind;
    if (k % 2 == 0)
      kind.shape.gpu_milli = static_cast<std::int32_t>(50 * (2 + below(17, 0)));
    else
      kind.shape.gpus = 1 << below(4, 0);
    const std::int64_t milli = kind.shape.total_milli();
    kind.shape.needs[model::kCpu] = milli * (4 + below(10, 1));
    kind.shape.needs[model::kMemory] = milli * (16 + below(40, 2)) / 1000 * 1024 / 16;
    kind.weight = 0.8 + 0.1 * static_cast<double>(below(5, 3));
    all.push_back(kind);
  }
  return all;
}

void add_cluster(model::Cluster& cluster, std::int64_t machines) {
  cluster.gpu_types = {"A", "B"};
  cluster.pods.push_back({.name = "pod-0"});
  for (std::int32_t t = 0; t < 2; ++t) {
    cluster.classes.push_back({cluster.gpu_types[static_cast<std::size_t>(t)], GpuTypeId(t), 8,
                               t == 0 ? model::machine_capacity({96'000, 393'216})
                                      : model::machine_capacity({64'000, 524'288})});
    cluster.racks.push_back({.name = "rack-" + std::to_string(t), .pod = PodId(0)});
  }
  for (std::int64_t m = 0; m < machines; ++m) {
    const std::int32_t t = 2 * m < machines ? 0 : 1;
    cluster.machine_names.add("m" + std::to_string(m));
    cluster.machine_class.emplace_back(t);
    cluster.machine_rack.emplace_back(t);
  }
}

}  // namespace

model::Instance single_task_instance(std::int64_t machines) {
  model::Instance instance;
  add_cluster(instance.cluster, machines);
  model::Workload& w = instance.workload;
  w.labels = {"task"};
  const std::vector<Kind> all = kinds();
  for (const Kind& kind : all) w.shapes.push_back(kind.shape);
  for (std::int64_t asked = 0; asked < machines * 8 * 1300;) {
    const std::size_t j = w.jobs.size();
    const std::size_t k = random_below(all.size(), {19, j});
    w.job_names.add("j" + std::to_string(j));
    model::Job& job = w.jobs.emplace_back();
    job.first_group = static_cast<std::uint32_t>(w.groups.size());
    job.groups = 1;
    job.weight = all[k].weight;
    if (k % 3 == 0) job.gpu_types = 1 + k % 2;
    w.groups.push_back({ShapeId(k), 1, 0});
    asked += all[k].shape.total_milli();
  }
  return instance;
}

}  // namespace berth::bench
