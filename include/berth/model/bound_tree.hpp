// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/workload.hpp"

namespace berth::model {

/// Spots of a job. A placed job is in exactly one *spot*: the GPU type of its devices together with
/// one rack (which contains all its tasks), one pod (over several racks of it), or several pods. A
/// set contains the spots that meet all given conditions.
struct SpotSet {
  GpuTypeId gpu_type;  ///< of this type; invalid: of any
  PodId pod;           ///< within this pod
  RackId rack;         ///< within this rack
  /// rack: in one rack; pod: over racks of one pod; cluster: over pods. Never machine.
  std::optional<Level> width;

  bool operator==(const SpotSet&) const = default;
};

/// Tree of cases that together contain every plan: an inner node names a job, and its children
/// divide the job's spots and "not placed" among them. Each leaf has prices of its own, and the
/// largest of the leaves' bounds is an upper bound on every plan. Parents come before children.
struct BoundTree {
  /// A price that differs from the parent's, of a job in Certificate::jobs.
  struct PriceChange {
    std::uint32_t position = 0;  ///< in Certificate::jobs
    std::int64_t price = 0;      ///< negative only where the job must be placed
  };
  struct TreeNode {
    std::int32_t parent = -1;          ///< index of an earlier node; -1: the root, which is node 0
    JobId split;                       ///< job whose spots the children divide; invalid: a leaf
    bool out = false;                  ///< the case contains plans without the parent's job
    bool rest = false;                 ///< the case contains all spots that no sibling names
    std::vector<SpotSet> spots;        ///< the case contains these spots
    std::vector<PriceChange> changes;  ///< ascending position; also for all nodes below
  };

  std::vector<TreeNode> nodes;  ///< empty: no cases

  [[nodiscard]] bool empty() const { return nodes.empty(); }
};

template <class Archive>
void describe(Archive& archive, BoundTree::TreeNode& node) {
  archive(node.parent, node.split, node.out, node.rest, node.spots, node.changes);
}
template <class Archive>
void describe(Archive& archive, BoundTree& tree) {
  archive(tree.nodes);
}

}  // namespace berth::model
