// SPDX-License-Identifier: Apache-2.0
#include "gang_cluster.hpp"

#include "cluster_builder.hpp"
#include "draws.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace berth::generate {
namespace {

// Definition of the presets philly_like and llm_like (berth/generate/generate.hpp).
constexpr std::int64_t kMachinesPerRack = 8;
constexpr std::int64_t kGpusPerRack = kMachinesPerRack * kGpusPerMachine;

/// CPU and memory by GPU count: 12 cores and 96 GiB for each, more than any gang's task asks for.
ClassId gpu_class(ClusterBuilder& cluster, std::string_view type, std::int32_t gpus) {
  return cluster.class_id({.name = fmt::format("{}-{}g", type, gpus),
                           .gpu_type = cluster.gpu_type(type),
                           .gpus = gpus,
                           .capacity = model::machine_capacity(
                               {std::int64_t{12'000} * gpus, std::int64_t{96 * 1024} * gpus})});
}

/// GPU types of the two halves of a pod: one type, or two.
std::array<std::string_view, 2> draw_types(const GangPreset& preset, Dice dice) {
  const auto share = [](const TypeShare& t) { return t.share; };
  const std::size_t first = draw_index(dice, preset.types, share);
  if (!dice.chance(preset.two_types)) return {preset.types[first].name, preset.types[first].name};
  const std::size_t step = 1 + dice.below(preset.types.size() - 1);
  return {preset.types[first].name, preset.types[(first + step) % preset.types.size()].name};
}

}  // namespace

model::Cluster gang_cluster(const GenerateOptions& options, const GangPreset& preset) {
  ClusterBuilder cluster;
  const std::int64_t gpus_per_pod = preset.racks_per_pod * kGpusPerRack;
  for (std::int64_t at = 0; at < options.gpus; at += kGpusPerRack) {
    const auto pod = static_cast<std::size_t>(at / gpus_per_pod);
    if (at % gpus_per_pod == 0) cluster.start_pod();
    cluster.start_rack();
    const auto types = draw_types(preset, Dice(options.seed, Draw::pod, pod));
    const std::string_view type = types[2 * (at % gpus_per_pod) < gpus_per_pod ? 0 : 1];
    const std::int64_t end = std::min(at + kGpusPerRack, options.gpus);
    for (std::int64_t gpu = at; gpu < end; gpu += kGpusPerMachine) {
      const auto gpus =
          static_cast<std::int32_t>(std::min<std::int64_t>(kGpusPerMachine, end - gpu));
      cluster.add_machine(gpu_class(cluster, type, gpus));
    }
  }
  return cluster.take();
}

}  // namespace berth::generate
