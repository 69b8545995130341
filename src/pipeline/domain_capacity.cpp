// SPDX-License-Identifier: Apache-2.0
#include "domain_capacity.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "berth/model/free_machine.hpp"

namespace berth::pipeline {

using model::Level;

namespace {

using MachinesByClass = std::map<ClassId, std::int64_t>;

void add(MachinesByClass& total, const MachinesByClass& part) {
  for (const auto& [c, machines] : part) total[c] += machines;
}

}  // namespace

DomainCapacity::DomainCapacity(const model::InstanceView& instance) : instance_(instance) {
  const model::Cluster& cluster = instance.cluster;
  std::vector<MachinesByClass> racks(cluster.racks.size()), pods(cluster.pods.size());
  MachinesByClass all;
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    if (cluster.state_of(MachineId(m)) != model::MachineState::up) continue;
    ++racks[cluster.machine_rack[m].index()][cluster.machine_class[m]];
  }
  for (std::size_t r = 0; r < racks.size(); ++r) {
    add(pods[cluster.racks[r].pod.index()], racks[r]);
  }
  for (const MachinesByClass& pod : pods) add(all, pod);
  auto& one_machine = domains_[Level::machine];
  for (const auto& [c, machines] : all) one_machine.insert({{c, 1}});
  domains_[Level::rack].insert(racks.begin(), racks.end());
  domains_[Level::pod].insert(pods.begin(), pods.end());
  domains_[Level::cluster].insert(std::move(all));
}

std::int64_t DomainCapacity::most(ShapeId shape, GpuTypeId type, Level level) {
  const auto [entry, fresh] = known_.try_emplace({shape, type, level}, 0);
  if (fresh) entry->second = count(instance_.workload.shape(shape), type, level);
  return entry->second;
}

std::vector<ClassId> DomainCapacity::classes(const model::Shape& shape, std::uint64_t types) const {
  std::vector<ClassId> usable;
  for (const MachinesByClass& machine : domains_.at(Level::machine)) {
    const ClassId c = machine.begin()->first;
    const GpuTypeId type = instance_.cluster.classes[c.index()].gpu_type;
    const bool allowed = type.valid() && ((types >> type.index()) & 1) != 0;
    if (!shape.uses_gpu() || allowed) usable.push_back(c);
  }
  return usable;
}

std::int64_t DomainCapacity::count(const model::Shape& shape, GpuTypeId type, Level level) const {
  std::vector<std::int64_t> of_class;
  for (const auto& c : instance_.cluster.classes) {
    const bool usable = !type.valid() || c.gpu_type == type;
    of_class.push_back(usable ? model::FreeMachine(c).count(shape, 1 << 30) : 0);
  }
  std::int64_t best = 0;
  for (const MachinesByClass& domain : domains_.at(level)) {
    std::int64_t tasks = 0;
    for (const auto& [c, machines] : domain) tasks += machines * of_class[c.index()];
    best = std::max(best, tasks);
  }
  return best;
}

std::string shortage(const model::Cluster& cluster, std::span<const ClassId> classes,
                     const model::Shape& shape) {
  if (classes.empty()) return "no machine is up";
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
  for (std::size_t r = 0; r < model::kResources; ++r) {
    const std::int64_t highest = most([&](const auto& c) { return c.capacity[r]; });
    if (shape.needs[r] <= highest) continue;
    return fmt::format("{} {} asked, at most {}", shape.needs[r], model::kResourceTable[r].unit,
                       highest);
  }
  return "none has all of it at once";
}

}  // namespace berth::pipeline
