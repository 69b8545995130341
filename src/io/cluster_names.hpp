// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/model/cluster.hpp"

namespace berth::io {

/// Looks up the names in a cluster that jobs may refer to. Several threads may look up at once.
class ClusterNames {
 public:
  explicit ClusterNames(const model::Cluster& cluster);  ///< which must outlive it

  [[nodiscard]] const model::Cluster& cluster() const { return *cluster_; }
  /// GPU types at the time of construction: merging jobs may add others to the cluster.
  [[nodiscard]] const std::vector<std::string>& gpu_types() const { return gpu_types_; }

  // The lookups return an invalid id when the cluster has no such name.
  [[nodiscard]] RackId rack(std::string_view name) const;
  [[nodiscard]] PodId pod(std::string_view name) const;
  [[nodiscard]] QueueId queue(std::string_view name) const;
  [[nodiscard]] MachineId machine(std::string_view name) const;

 private:
  template <class Id>
  using Index = std::unordered_map<std::string_view, Id>;

  const model::Cluster* cluster_;
  std::vector<std::string> gpu_types_;
  Index<RackId> racks_;
  Index<PodId> pods_;
  mutable std::once_flag machines_asked_for_;
  mutable Index<MachineId> machines_;  ///< filled on first use: most files have no running jobs
};

}  // namespace berth::io
