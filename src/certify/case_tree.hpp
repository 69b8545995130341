// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"

namespace berth::certify {

/// Numbers all spots of a cluster: by GPU type the racks, the pods, and "over pods".
class SpotIndex {
 public:
  explicit SpotIndex(const model::Cluster& cluster);

  [[nodiscard]] std::size_t size() const { return types_ * row_; }
  [[nodiscard]] std::size_t in_rack(GpuTypeId type, RackId rack) const {
    return type.index() * row_ + rack.index();
  }
  [[nodiscard]] std::size_t over_racks(GpuTypeId type, PodId pod) const {
    return type.index() * row_ + racks_ + pod.index();
  }
  [[nodiscard]] std::size_t over_pods(GpuTypeId type) const {
    return type.index() * row_ + row_ - 1;
  }
  /// Marks the spots of the set.
  void add(const model::SpotSet& set, std::vector<bool>& spots) const;
  /// Marks all spots where a plan may place the job: on a type that it allows and that exists
  /// there, not wider than its domain.
  [[nodiscard]] std::vector<bool> of(const model::WorkloadView& workload,
                                     const model::Job& job) const;
  [[nodiscard]] std::string name(std::size_t spot) const;

 private:
  [[nodiscard]] bool holds(const model::SpotSet& set, RackId rack) const;

  const model::Cluster* cluster_;
  std::size_t types_, racks_, pods_, row_;
  std::vector<bool> there_;  ///< by spot: true when it has machines of the type
};

/// A job that is restricted to some spots.
struct ConfinedJob {
  JobId job;
  bool out = true;          ///< may be left out
  std::vector<bool> spots;  ///< by number
};

/// The restrictions of one leaf.
struct Leaf {
  std::vector<model::Certificate::JobPrice> prices;  ///< of jobs that may be placed somewhere
  std::vector<ConfinedJob> confined;  ///< ascending; all jobs split on the path to the leaf
};

/// A certificate's tree with its names of spots resolved. Without a tree: one leaf, where all jobs
/// are unrestricted.
class CaseTree {
 public:
  /// @pre bad_tree(...) is empty
  CaseTree(const model::InstanceView& instance, const model::Certificate& certificate,
           std::span<const JobId> required_placed);

  [[nodiscard]] std::size_t leaves() const { return leaves_.size(); }
  [[nodiscard]] Leaf leaf(std::size_t index) const;
  /// The leaf that contains this plan. @pre fault() is empty
  [[nodiscard]] std::size_t leaf_of(const model::InstanceView& instance,
                                    const model::Placement& placement) const;
  /// A case that no child or more than one contains, or a negative price of a job that may be left
  /// out.
  [[nodiscard]] std::string fault() const;
  [[nodiscard]] const SpotIndex& spots() const { return spots_; }

 private:
  [[nodiscard]] ConfinedJob confined(std::size_t node, JobId job) const;
  [[nodiscard]] std::string fault_at(std::size_t node) const;
  [[nodiscard]] std::string bad_sign(std::size_t node) const;
  [[nodiscard]] std::size_t parent(std::size_t node) const {
    return static_cast<std::size_t>(nodes_[node].parent);
  }

  model::InstanceView instance_;
  const model::Certificate* certificate_;
  std::span<const model::BoundTree::TreeNode> nodes_;
  SpotIndex spots_;
  std::vector<bool> required_;                      ///< by JobId
  std::vector<std::vector<std::size_t>> children_;  ///< by node
  std::vector<std::vector<bool>> named_;            ///< by node: spots that its siblings' sets name
  std::vector<std::size_t> leaves_;                 ///< nodes
};

/// Why the tree cannot be read: a parent that does not precede its child, a node or place that does
/// not exist, a job without a price. Empty when it can be read.
std::string bad_tree(const model::InstanceView& instance, const model::Certificate& certificate);

}  // namespace berth::certify
