// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/gadget/ring_network.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

#include "berth/base/assert.hpp"

namespace berth::papers::gadget {
namespace {

/// Sums of bandwidths may miss a limit that they meet by rounding.
constexpr double kSlack = 1e-9;

/// Racks of a ring, each once.
std::vector<std::size_t> racks_of(const RingCluster& cluster, const Ring& ring) {
  std::vector<std::size_t> racks;
  for (const ServerShare& share : ring) racks.push_back(cluster.rack[share.server]);
  std::ranges::sort(racks);
  const auto rest = std::ranges::unique(racks);
  racks.erase(rest.begin(), rest.end());
  return racks;
}

}  // namespace

RingNetwork::RingNetwork(const RingCluster& cluster)
    : cluster_(&cluster),
      gpus_(cluster.gpus),
      server_link_(cluster.server_link),
      rack_link_(cluster.rack_link),
      servers_(cluster.rack_link.size()),
      total_(cluster.total_gpus()) {
  BERTH_EXPECT(server_link_.size() == gpus_.size() && cluster.rack.size() == gpus_.size());
  for (std::size_t s = 0; s < gpus_.size(); ++s) servers_.at(cluster.rack[s]).push_back(s);
}

bool RingNetwork::fits(const Ring& ring, double bandwidth) const {
  for (const ServerShare& share : ring) {
    if (share.workers <= 0 || share.workers > gpus_[share.server]) return false;
    if (ring.size() > 1 && server_link_[share.server] < bandwidth - kSlack) return false;
  }
  const std::vector<std::size_t> racks = racks_of(*cluster_, ring);
  if (racks.size() < 2) return true;
  return std::ranges::all_of(
      racks, [&](std::size_t rack) { return rack_link_[rack] >= bandwidth - kSlack; });
}

void RingNetwork::change(const Ring& ring, double bandwidth, int sign) {
  for (const ServerShare& share : ring) {
    gpus_[share.server] += sign * share.workers;
    total_ += sign * share.workers;
    BERTH_EXPECT(gpus_[share.server] >= 0);
    if (ring.size() > 1) server_link_[share.server] += sign * bandwidth;
  }
  const std::vector<std::size_t> racks = racks_of(*cluster_, ring);
  if (racks.size() < 2) return;
  for (const std::size_t rack : racks) rack_link_[rack] += sign * bandwidth;
}

Ring RingNetwork::on_one_server(std::int32_t workers) const {
  std::size_t best = gpus_.size();
  for (std::size_t s = 0; s < gpus_.size(); ++s) {
    if (gpus_[s] >= workers && (best == gpus_.size() || gpus_[s] < gpus_[best])) best = s;
  }
  return best == gpus_.size() ? Ring{} : Ring{{best, workers}};
}

std::int64_t RingNetwork::room(std::size_t rack, double bandwidth) const {
  std::int64_t sum = 0;
  for (const std::size_t s : servers_[rack]) {
    if (server_link_[s] >= bandwidth - kSlack) sum += gpus_[s];
  }
  return sum;
}

void RingNetwork::fill(std::size_t rack, double bandwidth, std::int32_t& left, Ring& ring) const {
  std::vector<std::size_t> order;
  for (const std::size_t s : servers_[rack]) {
    if (gpus_[s] > 0 && server_link_[s] >= bandwidth - kSlack) order.push_back(s);
  }
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t s) { return gpus_[s]; });
  for (const std::size_t s : order) {
    if (left == 0) return;
    ring.push_back({s, std::min(left, gpus_[s])});
    left -= ring.back().workers;
  }
}

Ring RingNetwork::embed(std::int32_t workers, double bandwidth) const {
  BERTH_EXPECT(workers > 0);
  if (workers > total_) return {};
  if (Ring ring = on_one_server(workers); !ring.empty()) return ring;
  std::vector<std::pair<std::int64_t, std::size_t>> within, across;
  std::int64_t total = 0;
  for (std::size_t rack = 0; rack < servers_.size(); ++rack) {
    const std::int64_t gpus = room(rack, bandwidth);
    if (gpus >= workers) within.emplace_back(gpus, rack);
    if (gpus == 0 || rack_link_[rack] < bandwidth - kSlack) continue;
    across.emplace_back(-gpus, rack);
    total += gpus;
  }
  Ring ring;
  if (!within.empty()) {
    fill(std::ranges::min(within).second, bandwidth, workers, ring);
    return ring;
  }
  if (total < workers) return {};
  std::ranges::sort(across);
  for (const auto& [gpus, rack] : across) fill(rack, bandwidth, workers, ring);
  return ring;
}

}  // namespace berth::papers::gadget
