// SPDX-License-Identifier: Apache-2.0
#include "fabric.hpp"
#include "slurm/topology.hpp"

#include <fmt/format.h>

namespace berth::io {

SwitchFabric read_slurm_topology(const std::string& text, const std::string& file) {
  slurm::Notes notes;
  SwitchFabric fabric;
  const slurm::RackLayout layout = slurm::read_topology({.name = file, .text = text}, notes);
  for (const slurm::RackLayout::RackNodes& rack : layout.racks) {
    for (const std::string& node : rack.nodes) fabric.leaves_of[node].insert(rack.name);
    fabric.uplinks_of[rack.name][rack.pod] = 0.0;
  }
  for (const SlurmNote& note : notes.take()) {
    fabric.notes.push_back(fmt::format("{}: {} (first: {})", note.count, note.what, note.example));
  }
  return fabric;
}

}  // namespace berth::io
