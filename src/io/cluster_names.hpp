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

/// What jobs may name in a cluster. Several threads may look things up at once.
class ClusterNames {
 public:
  explicit ClusterNames(const model::Cluster& cluster);  ///< which must outlive it

  [[nodiscard]] const model::Cluster& cluster() const { return *cluster_; }
  /// Those of the cluster when this was made: jobs that are merged may add others there.
  [[nodiscard]] const std::vector<std::string>& gpu_types() const { return gpu_types_; }

  // Invalid: there is none of this name.
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
