// SPDX-License-Identifier: Apache-2.0
#include "domain_capacity.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "berth/model/free_machine.hpp"

namespace berth::pipeline {

using model::Level;

namespace {

using MachinesByClass = std::map<ClassId, std::int64_t>;
constexpr std::int64_t kMany = 1 << 30;  ///< tasks of a machine: guard against overflow of sums

void add(MachinesByClass& total, const MachinesByClass& part) {
  for (const auto& [c, machines] : part) total[c] += machines;
}

std::int64_t tasks_in(const MachinesByClass& domain, std::span<const std::int64_t> of_class) {
  std::int64_t tasks = 0;
  for (const auto& [c, machines] : domain) tasks += machines * of_class[c.index()];
  return tasks;
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
  for (const auto& [c, machines] : all) one_machine.emplace(MachinesByClass{{c, 1}}, machines);
  for (const MachinesByClass& rack : racks) ++domains_[Level::rack][rack];
  for (const MachinesByClass& pod : pods) ++domains_[Level::pod][pod];
  ++domains_[Level::cluster][all];
}

std::int64_t DomainCapacity::most(ShapeId shape, GpuTypeId type, Level level) {
  const auto [entry, fresh] = known_.try_emplace({shape, type, level}, 0);
  if (fresh) entry->second = count(instance_.workload.shape(shape), type, level);
  return entry->second;
}

std::vector<ClassId> DomainCapacity::classes(const model::Shape& shape, std::uint64_t types) const {
  std::vector<ClassId> usable;
  for (const auto& [machine, equal] : domains_.at(Level::machine)) {
    const ClassId c = machine.begin()->first;
    const GpuTypeId type = instance_.cluster.classes[c.index()].gpu_type;
    const bool allowed = type.valid() && ((types >> type.index()) & 1) != 0;
    if (!shape.uses_gpu() || allowed) usable.push_back(c);
  }
  return usable;
}

std::vector<std::int64_t> DomainCapacity::count_by_class(const model::Shape& shape, GpuTypeId type,
                                                         std::int64_t most) const {
  std::vector<std::int64_t> of_class;
  for (const auto& c : instance_.cluster.classes) {
    const bool usable = !type.valid() || c.gpu_type == type;
    of_class.push_back(usable ? model::FreeMachine(c).count(shape, most) : 0);
  }
  return of_class;
}

std::int64_t DomainCapacity::count(const model::Shape& shape, GpuTypeId type, Level level) const {
  const std::vector<std::int64_t> of_class = count_by_class(shape, type, kMany);
  std::int64_t best = 0;
  for (const auto& [domain, equal] : domains_.at(level)) {
    best = std::max(best, tasks_in(domain, of_class));
  }
  return best;
}

DomainCapacity::Spread DomainCapacity::spread(const model::Shape& shape, GpuTypeId type,
                                              Level level, const model::DomainCounts& most) const {
  const std::vector<std::int64_t> of_class =
      count_by_class(shape, type, std::min<std::int64_t>(kMany, most.front()));
  Spread sum;
  for (const auto& [domain, equal] : domains_.at(level)) {
    const std::int64_t tasks =
        std::min<std::int64_t>(most[static_cast<std::size_t>(level)], tasks_in(domain, of_class));
    sum.tasks += equal * tasks;
    sum.domains += tasks > 0 ? equal : 0;
  }
  return sum;
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
