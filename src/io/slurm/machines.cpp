// SPDX-License-Identifier: Apache-2.0
#include "slurm/machines.hpp"

#include "words.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace berth::io::slurm {
namespace {

using Words = std::vector<std::string>;

bool is_one_of(std::string_view word, std::string_view words) {
  return words.find(" " + std::string(word) + " ") != std::string_view::npos;
}

bool any_of(const Words& states, std::string_view known) {
  return std::ranges::any_of(states, [&](const auto& state) { return is_one_of(state, known); });
}

/// Devices by type, in the order of the node's list; `gpu:a100:2,gpu:a100:2` is one entry of four.
std::vector<Gres> gpus_of(const SlurmNode& node) {
  std::vector<Gres> kinds;
  for (const Gres& gres : node.gres) {
    if (gres.name != "gpu" || gres.count == 0) continue;
    const auto same = std::ranges::find(kinds, gres.type, &Gres::type);
    if (same == kinds.end()) {
      kinds.push_back({.name = "gpu", .type = gres.type, .count = gres.count});
    } else {
      same->count += gres.count;
    }
  }
  return kinds;
}

[[noreturn]] void refuse(const std::string& file, const SlurmNode& node, const std::string& problem,
                         const std::string& hint = {}) {
  throw InputError({.file = file, .line = 0, .field = "node " + node.name}, problem, hint);
}

void set_gpus(const std::string& file, const SlurmImportOptions& options, ImportedMachine& machine,
              Notes& notes) {
  const SlurmNode& node = *machine.node;
  Gres most{.name = "gpu", .type = "", .count = 0};
  if (!options.cpu_as_gpu.empty()) {
    most = {.name = "gpu", .type = options.cpu_as_gpu, .count = node.cpus};
  } else {
    const std::vector<Gres> kinds = gpus_of(node);
    for (const Gres& kind : kinds) {
      if (kind.count > most.count) most = kind;
    }
    if (kinds.size() > 1) {
      notes.add("machines with several GPU types: only the most numerous is planned", node.name);
    }
  }
  if (most.count > model::kMaxGpusPerMachine) {
    refuse(file, node, fmt::format("{} GPUs on one machine", most.count),
           fmt::format("at most {}", model::kMaxGpusPerMachine));
  }
  machine.gpus = static_cast<std::int32_t>(most.count);
  if (machine.gpus > 0) machine.gpu_type = most.type.empty() ? "gpu" : most.type;
}

/// Counts the parts of each GPU: "shard:32" on 8 GPUs is 4 parts each.
void count_parts(const ImportedMachine& machine, ImportedMachines& machines, Notes& notes) {
  for (const char* const kind : {"shard", "mps"}) {
    std::int64_t parts = 0;
    for (const Gres& gres : machine.node->gres) parts += gres.name == kind ? gres.count : 0;
    if (parts == 0 || machine.gpus == 0) continue;
    const std::int64_t each = std::max<std::int64_t>(1, parts / machine.gpus);
    const auto [entry, fresh] = machines.parts_per_gpu.try_emplace(kind, each);
    if (!fresh && entry->second != each) {
      notes.add("machines whose GPUs are cut into another number of parts: the fewest counts",
                machine.node->name);
      entry->second = std::min(entry->second, each);
    }
  }
}

bool in_selected_partition(const SlurmNode& node, const SlurmImportOptions& options) {
  return options.partitions.empty() ||
         std::ranges::any_of(node.partitions,
                             [&](const std::string& p) { return is_selected(options, p); });
}

/// The nodes to plan, in file order.
std::vector<ImportedMachine> select(const Snapshot& snapshot, const std::string& file,
                                    const SlurmImportOptions& options, Notes& notes) {
  std::vector<ImportedMachine> chosen;
  for (const SlurmNode& node : snapshot.nodes) {
    if (!in_selected_partition(node, options)) continue;
    if (std::ranges::find(node.states, "FUTURE") != node.states.end()) {
      notes.add("nodes that Slurm knows only as FUTURE: left out", node.name);
      continue;
    }
    if (node.name.find_first_of("[]") != std::string::npos) {
      refuse(file, node, "a machine name with brackets");
    }
    if (node.cpus > kMaxAmount / 1000 || node.memory_mib > kMaxAmount) {
      refuse(file, node, "CPUs or memory beyond what a machine can have");
    }
    ImportedMachine machine;
    machine.node = &node;
    machine.cpu_milli = node.cpus * 1000;
    machine.memory_mib = node.memory_mib;
    machine.use = use_of(node, notes);
    set_gpus(file, options, machine, notes);
    if (node.threads > 1) {
      notes.add("nodes with several threads to a core: Slurm hands out whole cores", node.name);
    }
    chosen.push_back(std::move(machine));
  }
  return chosen;
}

/// One pod with one rack for each machine class: used when the layout is unknown.
RackLayout no_layout(const std::vector<ImportedMachine>& chosen) {
  RackLayout layout;
  std::map<std::tuple<std::string, std::int32_t, std::int64_t, std::int64_t>, std::size_t> kinds;
  for (const ImportedMachine& m : chosen) {
    const auto [entry, fresh] = kinds.try_emplace(
        std::tuple(m.gpu_type, m.gpus, m.cpu_milli, m.memory_mib), layout.racks.size());
    if (fresh) {
      layout.racks.push_back(
          {.name = fmt::format("rack-{}", layout.racks.size()), .pod = "pod-0", .nodes = {}});
    }
    layout.racks[entry->second].nodes.push_back(m.node->name);
  }
  return layout;
}

/// Assigns the machines to racks by the layout; machines that it does not name get a rack of their
/// own.
ImportedMachines laid_out(std::vector<ImportedMachine> chosen, const RackLayout& layout,
                          Notes& notes) {
  ImportedMachines machines;
  std::unordered_map<std::string_view, std::size_t> at;
  for (std::size_t i = 0; i < chosen.size(); ++i) at.emplace(chosen[i].node->name, i);
  std::vector<bool> placed(chosen.size(), false);
  const auto place = [&](std::size_t i) {
    placed[i] = true;
    chosen[i].rack = static_cast<std::uint32_t>(machines.racks.size() - 1);
    machines.list.push_back(chosen[i]);
  };
  for (const RackLayout::RackNodes& rack : layout.racks) {
    bool open = false;
    for (const std::string& name : rack.nodes) {
      const auto found = at.find(name);
      if (found == at.end()) {
        notes.add("nodes of the topology that are not among the nodes planned", name);
        continue;
      }
      if (!open) machines.racks.push_back({.name = rack.name, .pod = rack.pod, .nodes = {}});
      open = true;
      place(found->second);
    }
  }
  bool open = false;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (placed[i]) continue;
    if (!open) machines.racks.push_back({.name = "no-switch", .pod = "no-switch", .nodes = {}});
    open = true;
    notes.add("nodes that the topology does not name: they lie in rack \"no-switch\"",
              chosen[i].node->name);
    place(i);
  }
  for (std::size_t m = 0; m < machines.list.size(); ++m) {
    machines.index.emplace(machines.list[m].node->name, m);
  }
  return machines;
}

}  // namespace

bool is_selected(const SlurmImportOptions& options, std::string_view partition) {
  return options.partitions.empty() ||
         std::ranges::find(options.partitions, partition) != options.partitions.end();
}

Use use_of(const SlurmNode& node, Notes& notes) {
  constexpr std::string_view down =
      " DOWN ERROR UNKNOWN DRAIN DRAINED DRAINING FAIL FAILING POWER_DRAIN POWERING_DOWN "
      "INVALID_REG REBOOT_ISSUED BLOCKED ";
  constexpr std::string_view asleep = " POWERED_DOWN POWERING_UP POWER_UP POWER_SAVING ";
  constexpr std::string_view silent = " NOT_RESPONDING ";
  constexpr std::string_view kept = " MAINT MAINTENANCE RESERVED ";
  constexpr std::string_view fine =
      " IDLE ALLOCATED MIXED COMPLETING PLANNED CLOUD POWERED_DOWN POWERING_UP POWER_UP POWER_DOWN "
      "POWER_SAVING RESUME UNDRAIN DYNAMIC_NORM DYNAMIC_FUTURE REBOOT_REQUESTED REBOOT_CANCELED "
      "PERFCTRS NET RES EXTERNAL DRAIN_CANCELED PRIVATE_DATA NONE NOT_RESPONDING ";
  if (any_of(node.states, down)) return Use::drained;
  // a sleeping node need not respond: Slurm allocates such nodes and wakes them
  if (any_of(node.states, silent) && !any_of(node.states, asleep)) return Use::drained;
  if (any_of(node.states, kept)) return Use::reserved;
  for (const std::string& state : node.states) {
    if (is_one_of(state, fine)) continue;
    notes.add("nodes in a state not known here: taken as drained", node.name + " " + state);
    return Use::drained;
  }
  return Use::up;
}

ImportedMachines arrange(const Snapshot& snapshot, const SlurmSources& sources,
                         const SlurmImportOptions& options, Notes& notes) {
  const std::string& file = sources.nodes.name;
  const Source& topology = sources.topology;
  std::vector<ImportedMachine> chosen = select(snapshot, file, options, notes);
  std::unordered_map<std::string_view, int> seen;
  for (const ImportedMachine& m : chosen) {
    if (++seen[m.node->name] > 1) refuse(file, *m.node, "is given twice");
  }
  const RackLayout layout =
      topology.name.empty() ? no_layout(chosen) : read_topology(topology, notes);
  ImportedMachines machines = laid_out(std::move(chosen), layout, notes);
  for (const ImportedMachine& machine : machines.list) count_parts(machine, machines, notes);
  return machines;
}

void reserve(const Snapshot& snapshot, std::int64_t now, ImportedMachines& machines, Notes& notes) {
  std::int64_t longest = 0;
  for (const SlurmJob& job : snapshot.jobs) {
    if (job.state != "PENDING") continue;
    const bool limited = job.minutes.set && !job.minutes.infinite;
    longest = std::max(longest, limited ? job.minutes.value * 60 : kMaxAmount);
  }
  for (const Reservation& r : snapshot.reservations) {
    if (r.end <= now || r.start >= now + longest) continue;
    if (r.start > now) {
      notes.add("reservations to come, whose nodes are kept free from now on", r.name);
    }
    for (const std::string& name : r.nodes) {
      const auto found = machines.index.find(name);
      if (found == machines.index.end()) continue;
      ImportedMachine& machine = machines.list[found->second];
      if (machine.use == Use::up) machine.use = Use::reserved;
    }
  }
  // v0.0.39 and later give it in the node's own record
  for (ImportedMachine& machine : machines.list) {
    if (!machine.node->reservation.empty() && machine.use == Use::up) machine.use = Use::reserved;
  }
}

}  // namespace berth::io::slurm
