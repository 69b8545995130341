// SPDX-License-Identifier: Apache-2.0
#include "slurm/running.hpp"

#include "slurm/gang.hpp"
#include "slurm/values.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace berth::io::slurm {
namespace {

using model::kGpuMilli;

/// GPUs of one node: their number or share, and their indices if Slurm gives them.
struct Gpus {
  std::int64_t whole = 0;
  std::int64_t milli = 0;
  std::vector<int> indices;
};

/// GPUs that the job asked for, on all its nodes.
std::int64_t gpus_asked(const SlurmJob& job) {
  const auto gpus = [](const std::string& list) {
    std::int64_t sum = 0;
    for (const Gres& g : parse_gres(list).value_or(std::vector<Gres>{})) {
      if (g.name == "gpu") sum += g.count;
    }
    return sum;
  };
  const auto nodes = std::ssize(job.nodes);
  return std::max({gpus(job.per_job), gpus(job.per_node) * nodes,
                   gpus(job.per_task) * std::max<std::int64_t>(1, job.tasks),
                   gpus(job.per_socket) * nodes * std::max<std::int64_t>(1, job.sockets_per_node)});
}

/// Slurm 22.05 tells nothing of the GPUs of `--gpus` on some nodes, though it counts them.
bool tells_no_gres(const SlurmJob& job) {
  return std::ranges::all_of(job.gres_detail, &std::string::empty);
}

class Placer {
 public:
  Placer(const ImportedMachines& machines, const SlurmImportOptions& options,
         std::vector<NodeRoom>& room, Notes& notes)
      : machines_(machines), options_(options), room_(room), notes_(notes) {}

  /// Takes all resources except GPUs whose indices are unknown.
  RunningSlurmJob begin(const SlurmJob& job) {
    RunningSlurmJob running{.job = &job, .parts = {}};
    for (std::size_t i = 0; i < job.nodes.size(); ++i) {
      const auto found = machines_.index.find(job.nodes[i]);
      if (found == machines_.index.end()) continue;
      MachineShare part;
      part.machine = found->second;
      const ImportedMachine& machine = machines_.list[part.machine];
      const Gpus gpus = gpus_of(job, i, machine);
      take_rest(job, i, part, gpus);
      if (!gpus.indices.empty()) take_told(gpus, part, job);
      running.parts.push_back(part);
    }
    return running;
  }

  /// Assigns the GPUs whose indices are unknown: the lowest free ones.
  void finish(RunningSlurmJob& running) {
    for (MachineShare& part : running.parts) {
      auto& milli = room_[part.machine].milli;
      const bool share = part.shape.gpu_milli > 0;
      const int wanted = share ? 1 : part.shape.gpus;
      const std::int32_t each = share ? part.shape.gpu_milli : std::int32_t{kGpuMilli};
      for (std::size_t g = 0; g < milli.size() && std::popcount(part.devices) < wanted; ++g) {
        if (milli[g] < each || (part.devices >> g & 1) != 0) continue;
        part.devices |= std::uint64_t{1} << g;
        milli[g] -= each;
      }
      if (std::popcount(part.devices) == wanted) continue;
      note_overfull(part);
      part.shape.gpus = share ? 0 : std::popcount(part.devices);
      part.shape.gpu_milli = 0;
    }
  }

 private:
  void note_overfull(const MachineShare& part) {
    notes_.add("machines of which Slurm handed out more than they have: full",
               machines_.list[part.machine].node->name);
  }

  [[nodiscard]] Gpus gpus_of(const SlurmJob& job, std::size_t node,
                             const ImportedMachine& machine) const {
    const auto nodes = static_cast<std::int64_t>(job.nodes.size());
    Gpus gpus;
    if (!options_.cpu_as_gpu.empty()) {
      gpus.whole = cpus_of(job, node, machine);
      return gpus;
    }
    if (job.gres_detail.size() != job.nodes.size() || tells_no_gres(job)) {
      const auto told = tres_amount(job.allocated, "gres/gpu");
      gpus.whole = divided_up(told ? *told : gpus_asked(job), nodes);
      return gpus;
    }
    for (const Gres& g : parse_gres(job.gres_detail[node]).value_or(std::vector<Gres>{})) {
      const bool ours = g.type.empty() || g.type == machine.gpu_type;
      if (g.name == "gpu" && ours) {
        gpus.whole += g.count;
        gpus.indices.insert(gpus.indices.end(), g.indices.begin(), g.indices.end());
      }
      const auto parts = machines_.parts_per_gpu.find(g.name);
      if (parts != machines_.parts_per_gpu.end()) {
        gpus.milli += divided_up(g.count * kGpuMilli, parts->second);
      }
    }
    // "shard" counts within its device; requests of several devices are taken whole
    if (gpus.milli > 0) gpus.whole = gpus.milli < kGpuMilli ? 0 : divided_up(gpus.milli, kGpuMilli);
    if (gpus.whole > 0) gpus.milli = 0;
    return gpus;
  }

  static const Allocation* allocation(const SlurmJob& job, const std::string& node) {
    const auto found = std::ranges::find(job.allocation, node, &Allocation::node);
    return found == job.allocation.end() ? nullptr : &*found;
  }

  static std::int64_t cpus_of(const SlurmJob& job, std::size_t node,
                              const ImportedMachine& machine) {
    const Allocation* const told = allocation(job, job.nodes[node]);
    if (told != nullptr && told->cpus > 0) return told->cpus;
    if (told != nullptr && told->cores > 0) return told->cores * machine.node->threads;
    return divided_up(job.cpus, static_cast<std::int64_t>(job.nodes.size()));
  }

  static std::int64_t memory_of(const SlurmJob& job, std::size_t node) {
    const Allocation* const told = allocation(job, job.nodes[node]);
    if (told != nullptr && told->memory_mib > 0) return told->memory_mib;
    return divided_up(tres_amount(job.allocated, "mem").value_or(0),
                      static_cast<std::int64_t>(job.nodes.size()));
  }

  void take_rest(const SlurmJob& job, std::size_t node, MachineShare& part, const Gpus& gpus) {
    NodeRoom& room = room_[part.machine];
    const ImportedMachine& machine = machines_.list[part.machine];
    const std::int64_t cpu = cpus_of(job, node, machine) * 1000;
    const std::int64_t memory = memory_of(job, node);
    const model::Resources asked{cpu, memory};
    part.shape.needs = {std::min(cpu, room.cpu_milli), std::min(memory, room.memory_mib)};
    if (part.shape.needs != asked) note_overfull(part);
    room.cpu_milli -= part.shape.needs[model::kCpu];
    room.memory_mib -= part.shape.needs[model::kMemory];
    part.shape.gpus = static_cast<std::int32_t>(std::min<std::int64_t>(gpus.whole, machine.gpus));
    if (part.shape.gpus == 0) part.shape.gpu_milli = static_cast<std::int32_t>(gpus.milli);
    if (machine.gpus == 0) part.shape.gpu_milli = 0;
  }

  void take_told(const Gpus& gpus, MachineShare& part, const SlurmJob& job) {
    auto& milli = room_[part.machine].milli;
    const bool share = part.shape.gpu_milli > 0;
    const std::int32_t each = share ? part.shape.gpu_milli : std::int32_t{kGpuMilli};
    const int wanted = share ? 1 : part.shape.gpus;
    for (const int index : gpus.indices) {
      const auto g = static_cast<std::size_t>(index);
      const bool sound = index >= 0 && g < milli.size() && milli[g] >= each &&
                         (part.devices >> g & 1) == 0 && std::popcount(part.devices) < wanted;
      if (!sound) {
        notes_.add("jobs that run on GPUs that are taken or not there: others are assumed",
                   std::to_string(job.id));
        continue;
      }
      part.devices |= std::uint64_t{1} << g;
      milli[g] -= each;
    }
  }

  const ImportedMachines& machines_;
  const SlurmImportOptions& options_;
  std::vector<NodeRoom>& room_;
  Notes& notes_;
};

}  // namespace

std::int64_t NodeRoom::whole_gpus() const {
  return std::ranges::count(milli, std::int32_t{kGpuMilli});
}

NodeRoom empty_room(const ImportedMachine& machine) {
  NodeRoom room{.cpu_milli = machine.cpu_milli, .memory_mib = machine.memory_mib, .milli = {}};
  room.milli.assign(static_cast<std::size_t>(machine.gpus), std::int32_t{kGpuMilli});
  return room;
}

bool holds_nodes(const SlurmJob& job) {
  constexpr auto holding = std::to_array<std::string_view>(
      {"RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "STOPPED", "RESIZING", "SIGNALING",
       "STAGE_OUT", "POWER_UP_NODE"});
  return !job.nodes.empty() && std::ranges::any_of(job.states, [&](const std::string& state) {
    return std::ranges::find(holding, state) != holding.end();
  });
}

std::vector<RunningSlurmJob> place_running(const Snapshot& snapshot,
                                           const ImportedMachines& machines,
                                           const SlurmImportOptions& options,
                                           std::vector<NodeRoom>& room, Notes& notes) {
  room.clear();
  for (const ImportedMachine& machine : machines.list) room.push_back(empty_room(machine));
  Placer placer(machines, options, room, notes);
  std::vector<RunningSlurmJob> running;
  for (const SlurmJob& job : snapshot.jobs) {
    if (!holds_nodes(job)) continue;
    RunningSlurmJob placed = placer.begin(job);
    if (!placed.parts.empty()) running.push_back(std::move(placed));
  }
  for (RunningSlurmJob& job : running) placer.finish(job);
  return running;
}

}  // namespace berth::io::slurm
