// SPDX-License-Identifier: Apache-2.0
#include "machine_classes.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace berth::io {
namespace {

std::string class_name(std::string_view gpu_type, const model::MachineClass& c) {
  const std::int64_t cpu = c.capacity[model::kCpu], mib = c.capacity[model::kMemory];
  const std::string cores =
      cpu % 1000 == 0 ? fmt::format("{}c", cpu / 1000) : fmt::format("{}m", cpu);
  const std::string memory =
      mib % 1024 == 0 ? fmt::format("{}g", mib / 1024) : fmt::format("{}mi", mib);
  if (c.gpus == 0) return fmt::format("cpu-{}-{}", cores, memory);
  return fmt::format("{}-{}g-{}-{}", gpu_type, c.gpus, cores, memory);
}

}  // namespace

GpuTypeId MachineClasses::gpu_type(std::string_view name) {
  auto& types = cluster_->gpu_types;
  const auto found = std::ranges::find(types, name);
  if (found != types.end()) return GpuTypeId(static_cast<std::size_t>(found - types.begin()));
  if (types.size() == model::kMaxGpuTypes) return {};
  types.emplace_back(name);
  return GpuTypeId(types.size() - 1);
}

ClassId MachineClasses::of(std::string_view gpu_type_name, const model::MachineClass& amounts) {
  model::MachineClass c = amounts;
  if (c.gpus > 0) c.gpu_type = gpu_type(gpu_type_name);
  const Key key{c.gpu_type.value(), c.gpus, c.capacity[model::kCpu], c.capacity[model::kMemory]};
  const auto [entry, fresh] = known_.try_emplace(key, ClassId(cluster_->classes.size()));
  if (fresh) {
    c.name = class_name(gpu_type_name, c);
    cluster_->classes.push_back(c);
  }
  return entry->second;
}

}  // namespace berth::io
