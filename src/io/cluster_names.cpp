// SPDX-License-Identifier: Apache-2.0
#include "cluster_names.hpp"

#include <algorithm>

namespace berth::io {
namespace {

template <class Index>
auto find(const Index& index, std::string_view name) {
  const auto found = index.find(name);
  return found == index.end() ? typename Index::mapped_type() : found->second;
}

}  // namespace

ClusterNames::ClusterNames(const model::Cluster& cluster)
    : cluster_(&cluster), gpu_types_(cluster.gpu_types) {
  for (std::size_t r = 0; r < cluster.racks.size(); ++r) {
    racks_.emplace(cluster.racks[r].name, RackId(r));
  }
  for (std::size_t p = 0; p < cluster.pods.size(); ++p) {
    pods_.emplace(cluster.pods[p].name, PodId(p));
  }
}

RackId ClusterNames::rack(std::string_view name) const { return find(racks_, name); }
PodId ClusterNames::pod(std::string_view name) const { return find(pods_, name); }

QueueId ClusterNames::queue(std::string_view name) const {
  const auto found = std::ranges::find(cluster_->queues, name, &model::Queue::name);
  if (found == cluster_->queues.end()) return {};
  return QueueId(static_cast<std::size_t>(found - cluster_->queues.begin()));
}

MachineId ClusterNames::machine(std::string_view name) const {
  std::call_once(machines_asked_for_, [&] {
    for (std::size_t m = 0; m < cluster_->machines(); ++m) {
      machines_.emplace(cluster_->machine_names[m], MachineId(m));
    }
  });
  return find(machines_, name);
}

}  // namespace berth::io
