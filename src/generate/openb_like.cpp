// SPDX-License-Identifier: Apache-2.0
#include "cluster_builder.hpp"
#include "draws.hpp"
#include "job_mix.hpp"
#include "openb_tables.hpp"
#include "presets.hpp"
#include "workload_builder.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

namespace berth::generate {
namespace {

class OpenbCluster {
 public:
  /// Classes in the order of the table, each with its fraction of the GPUs; the first takes the
  /// remainder.
  model::Cluster build(const GenerateOptions& options) {
    cluster_.start_pod();
    std::int64_t rest = options.gpus;
    std::int64_t gpu_machines = 0;
    for (std::size_t c = kOpenbMachines.size(); c-- > 1;) {
      const OpenbMachine& m = kOpenbMachines[c];
      count_[c] = options.gpus * m.gpu_permille / (1000 * m.gpus);
      rest -= count_[c] * m.gpus;
      gpu_machines += count_[c];
    }
    count_[0] = rest / kOpenbMachines[0].gpus;
    for (std::size_t c = 0; c < kOpenbMachines.size(); ++c) add_rack(kOpenbMachines[c], count_[c]);
    const auto left = static_cast<std::int32_t>(rest % kOpenbMachines[0].gpus);
    if (left > 0) add_rack(part_of(kOpenbMachines[0], left), 1);
    gpu_machines += count_[0] + (left > 0 ? 1 : 0);
    add_cpu_rack(options, gpu_machines);
    return cluster_.take();
  }

 private:
  static OpenbMachine part_of(OpenbMachine machine, std::int32_t gpus) {
    machine.cores = machine.cores * gpus / machine.gpus;
    machine.memory_gib = machine.memory_gib * gpus / machine.gpus;
    machine.gpus = gpus;
    return machine;
  }

  void add_rack(const OpenbMachine& m, std::int64_t count) {
    if (count == 0) return;
    cluster_.start_rack();
    const ClassId id = cluster_.class_id(
        {.name = fmt::format("{}-{}g-{}c", m.gpu_type, m.gpus, m.cores),
         .gpu_type = cluster_.gpu_type(m.gpu_type),
         .gpus = m.gpus,
         .capacity = model::machine_capacity({1000 * m.cores, 1024 * m.memory_gib})});
    for (std::int64_t i = 0; i < count; ++i) cluster_.add_machine(id);
  }

  void add_cpu_rack(const GenerateOptions& options, std::int64_t gpu_machines) {
    const auto count =
        static_cast<std::int64_t>(options.cpu_machines * static_cast<double>(gpu_machines) + 0.5);
    if (count == 0) return;
    cluster_.start_rack();
    const ClassId id = cluster_.class_id(
        {.name = "cpu", .gpu_type = {}, .capacity = model::machine_capacity({64'000, 384 * 1024})});
    for (std::int64_t i = 0; i < count; ++i) cluster_.add_machine(id);
  }

  ClusterBuilder cluster_;
  std::array<std::int64_t, kOpenbMachines.size()> count_{};
};

/// The table's rows summed by size.
Mix openb_mix() {
  Mix mix;
  for (const OpenbPod& pod : kOpenbPods) {
    if (mix.empty() || mix.back().milli != pod.milli) mix.push_back({pod.milli, 0.0});
    mix.back().share += pod.weight;
  }
  return mix;
}

model::Shape draw_shape(std::int64_t milli, Dice& dice) {
  const auto first = std::ranges::lower_bound(kOpenbPods, milli, {}, &OpenbPod::milli);
  const auto last = std::ranges::upper_bound(kOpenbPods, milli, {}, &OpenbPod::milli);
  const std::span<const OpenbPod> pods(first, last);
  const OpenbPod& pod = pods[draw_index(dice, pods, [](const OpenbPod& p) { return p.weight; })];
  const auto gpus = static_cast<std::int32_t>(milli / 1000);
  return {.needs = {1000 * pod.cores, 1024 * pod.memory_gib},
          .gpus = gpus,
          .gpu_milli = static_cast<std::int32_t>(milli - 1000 * gpus)};
}

}  // namespace

model::Instance openb_like(const GenerateOptions& options) {
  model::Instance instance;
  instance.cluster = OpenbCluster().build(options);
  const auto sizes = draw_sizes(options, without_above(openb_mix(), options.gpus));
  WorkloadBuilder out(sizes.size(), instance.cluster.gpu_types.size(), {"task"});
  for (std::size_t j = 0; j < sizes.size(); ++j) {
    Dice dice(options.seed, j);
    const model::Job job = out.start_job(dice);
    out.add_group(draw_shape(sizes[j], dice), 1, 0);
    out.finish_job(job);
  }
  instance.workload = out.take();
  return instance;
}

}  // namespace berth::generate
