// SPDX-License-Identifier: Apache-2.0
#include "machine_names.hpp"

#include <algorithm>
#include <cstdint>

namespace berth::io {
namespace {

std::int32_t first_in(const model::Cluster& cluster, std::size_t rack) {
  const auto& racks = cluster.machine_rack;
  return static_cast<std::int32_t>(std::ranges::lower_bound(racks, RackId(rack)) - racks.begin());
}

std::size_t first_rack_of(const model::Cluster& cluster, std::size_t pod) {
  const auto first = std::ranges::lower_bound(cluster.racks, PodId(pod), {}, &model::Rack::pod);
  return static_cast<std::size_t>(first - cluster.racks.begin());
}

}  // namespace

MachineNames::MachineNames(const model::Cluster& cluster) : cluster_(&cluster) {
  index_.reserve(cluster.machines());
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const auto first = static_cast<std::int32_t>(m);
    index_.emplace(cluster.machine_names[m], model::MachineRange{first, first + 1});
  }
  for (std::size_t r = 0; r < cluster.racks.size(); ++r) {
    index_.emplace(cluster.racks[r].name,
                   model::MachineRange{first_in(cluster, r), first_in(cluster, r + 1)});
  }
  for (std::size_t p = 0; p < cluster.pods.size(); ++p) {
    index_.emplace(cluster.pods[p].name,
                   model::MachineRange{first_in(cluster, first_rack_of(cluster, p)),
                                       first_in(cluster, first_rack_of(cluster, p + 1))});
  }
}

}  // namespace berth::io
