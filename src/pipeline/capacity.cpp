// SPDX-License-Identifier: Apache-2.0
#include "capacity.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "berth/model/free_machine.hpp"

namespace berth::pipeline {

using model::Level;

Capacity::Capacity(const model::Instance& instance) : instance_(instance) {
  const model::Cluster& cluster = instance.cluster;
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    if (cluster.state_of(MachineId(m)) != model::MachineState::up) continue;
    const RackId rack = cluster.machine_rack[m];
    const ClassId c = cluster.machine_class[m];
    machines_[Level::machine][{c.value(), c}] = 1;
    ++machines_[Level::rack][{rack.value(), c}];
    ++machines_[Level::pod][{cluster.racks[rack.index()].pod.value(), c}];
    ++machines_[Level::cluster][{0, c}];
  }
}

std::int64_t Capacity::most(ShapeId shape, GpuTypeId type, Level level) {
  const auto [entry, fresh] = known_.try_emplace({shape, type, level}, 0);
  if (fresh) entry->second = count(instance_.workload.shape(shape), type, level);
  return entry->second;
}

std::vector<ClassId> Capacity::classes(const model::Shape& shape, std::uint64_t types) const {
  std::vector<ClassId> usable;
  const auto at_all = machines_.find(Level::machine);
  if (at_all == machines_.end()) return usable;
  for (const auto& [key, machines] : at_all->second) {
    const GpuTypeId type = instance_.cluster.classes[key.second.index()].gpu_type;
    const bool allowed = type.valid() && ((types >> type.index()) & 1) != 0;
    if (!shape.uses_gpu() || allowed) usable.push_back(key.second);
  }
  return usable;
}

std::int64_t Capacity::count(const model::Shape& shape, GpuTypeId type, Level level) const {
  const auto of_level = machines_.find(level);
  if (of_level == machines_.end()) return 0;
  std::vector<std::int64_t> of_class;
  for (const auto& c : instance_.cluster.classes) {
    const bool usable = !type.valid() || c.gpu_type == type;
    of_class.push_back(usable ? model::FreeMachine(c).count(shape, 1 << 30) : 0);
  }
  std::map<std::int32_t, std::int64_t> in_domain;
  for (const auto& [key, machines] : of_level->second) {
    in_domain[key.first] += machines * of_class[key.second.index()];
  }
  std::int64_t best = 0;
  for (const auto& [domain, tasks] : in_domain) best = std::max(best, tasks);
  return best;
}

std::string shortage(const model::Cluster& cluster, std::span<const ClassId> classes,
                     const model::Shape& shape) {
  struct Resource {
    const char* name;
    std::int64_t asked;
    std::int64_t model::MachineClass::*has;
  };
  const auto most = [&](auto amount) {
    std::int64_t highest = 0;
    for (const ClassId c : classes) {
      highest = std::max<std::int64_t>(highest, amount(cluster.classes[c.index()]));
    }
    return highest;
  };
  const std::int64_t gpus = most([](const auto& c) { return c.gpus; });
  const std::int64_t asked = shape.gpus + (shape.gpu_milli > 0 ? 1 : 0);
  if (asked > gpus) return fmt::format("{} GPUs asked, at most {}", asked, gpus);
  for (const Resource& r :
       {Resource{"mCPU", shape.cpu_milli, &model::MachineClass::cpu_milli},
        Resource{"MiB of memory", shape.memory_mib, &model::MachineClass::memory_mib},
        Resource{"Mbit/s of NIC", shape.nic_mbps, &model::MachineClass::nic_mbps}}) {
    const std::int64_t highest = most([&](const auto& c) { return c.*r.has; });
    if (r.asked > highest) return fmt::format("{} {} asked, at most {}", r.asked, r.name, highest);
  }
  return "none has all of it at once";
}

}  // namespace berth::pipeline
