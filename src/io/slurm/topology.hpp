// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "slurm/notes.hpp"
#include "slurm/values.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace berth::io::slurm {

/// Rack and pod of every machine: a leaf switch or a block is a rack, the switch above it a pod.
struct RackLayout {
  struct RackNodes {
    std::string name;
    std::string pod;
    std::vector<std::string> nodes;
  };
  std::vector<RackNodes> racks;  ///< racks of one pod are consecutive; a node is in one rack
};

/// topology.conf, or the text of `scontrol show topology`.
///
/// Tree: a switch with `Nodes` is a rack; its pod is the switch that names it under `Switches`, the
/// first in the file when several do; a switch that no other names is a pod. Switches above pods
/// are the cluster. The graph may have any shape: cycles, several parents and switches without
/// nodes occur in files written by probes of real fabrics.
/// Block: a block is a rack; a pod is as many blocks, in file order, as the largest of `BlockSizes`
/// holds nodes.
/// @throws InputError with the line: not a topology, a host list that cannot be read
RackLayout read_topology(const Source& source, Notes& notes);

}  // namespace berth::io::slurm
