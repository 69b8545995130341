// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "berth/io/import.hpp"
#include "berth/model/cluster.hpp"

namespace berth::io {

/// Hosts, the leaf switches they are connected to, and the switches above the leaves.
struct SwitchFabric {
  std::map<std::string, std::set<std::string>> leaves_of;  ///< by host
  std::map<std::string, std::map<std::string, double>>
      uplinks_of;             ///< by leaf: switch above, Gbit/s
  std::int64_t nameless = 0;  ///< host ports that do not name their host
  std::vector<std::string> notes = {};
};

/// Builds a cluster. Leaves that share a host are one rack: a rail-optimised host is connected to
/// several leaves, which all hosts of its unit share. Racks whose leaves share a switch above are
/// one pod. A rack's uplink capacity is the sum of its leaves' upward links, and unlimited when the
/// source gives no rates.
/// @throws InputError when no host is left
model::Cluster cluster_of(const SwitchFabric& fabric, const HostOptions& host,
                          const std::string& file);

SwitchFabric read_ibnetdiscover(const std::string& text, const std::string& file);
SwitchFabric read_lingjun(const std::string& text, const std::string& file);

/// topology.conf: racks and pods as slurm::read_topology finds them.
SwitchFabric read_slurm_topology(const std::string& text, const std::string& file);

/// Model of NVIDIA's topograph: `switches` by name with the `switches` below them, and `blocks` of
/// nodes under a switch, which is a leaf. Labels and annotations (NVLink domains) are not read.
SwitchFabric read_topograph(const std::string& text, const std::string& file);

}  // namespace berth::io
