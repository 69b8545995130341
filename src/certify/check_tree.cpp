// SPDX-License-Identifier: Apache-2.0
#include "check_tree.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

namespace berth::certify {
namespace {

using model::BoundTree;
using model::Level;
using model::RawCertificate;

using Names = std::map<std::string_view, std::size_t>;

constexpr std::array<std::string_view, 3> kWidths{"rack", "pod", "cluster"};

class TreeReading {
 public:
  TreeReading(const model::InstanceView& instance, Findings& findings) : findings_(&findings) {
    const model::Cluster& cluster = instance.cluster;
    for (std::size_t i = 0; i < cluster.gpu_types.size(); ++i)
      types_.emplace(cluster.gpu_types[i], i);
    for (std::size_t i = 0; i < cluster.pods.size(); ++i) pods_.emplace(cluster.pods[i].name, i);
    for (std::size_t i = 0; i < cluster.racks.size(); ++i) racks_.emplace(cluster.racks[i].name, i);
    for (std::size_t j = 0; j < instance.workload.size(); ++j) {
      jobs_.emplace(instance.workload.tables().job_names[j], j);
    }
  }

  BoundTree::TreeNode node(const model::RawTreeNode& raw) {
    BoundTree::TreeNode node;
    node.parent = raw.parent ? index<std::int32_t>(*raw.parent) : -1;
    if (raw.split) node.split = found<JobId>(jobs_, *raw.split, "job");
    node.out = raw.out;
    node.rest = raw.rest;
    for (const auto& s : raw.spots) node.spots.push_back(spots(s));
    for (const auto& c : raw.changes) {
      node.changes.push_back({index<std::uint32_t>(c.position), c.price});
    }
    return node;
  }

 private:
  /// An index that no list has, if the value does not fit.
  template <class Index>
  static Index index(std::int64_t raw) {
    constexpr Index most = std::numeric_limits<Index>::max();
    return raw < 0 || raw > std::int64_t{most} ? most : static_cast<Index>(raw);
  }

  template <class Id>
  Id found(const Names& names, std::string_view name, const std::string& what) {
    const auto at = names.find(name);
    if (at != names.end()) return Id(at->second);
    findings_->add(FaultKind::bad_certificate,
                   "certificate: tree: " + what + " " + std::string(name) + " is not in the input");
    return {};
  }

  model::SpotSet spots(const model::RawSpotSet& raw) {
    model::SpotSet set;
    if (raw.gpu_type) set.gpu_type = found<GpuTypeId>(types_, *raw.gpu_type, "GPU type");
    if (raw.pod) set.pod = found<PodId>(pods_, *raw.pod, "pod");
    if (raw.rack) set.rack = found<RackId>(racks_, *raw.rack, "rack");
    if (!raw.width) return set;
    const auto width = std::ranges::find(kWidths, *raw.width);
    if (width == kWidths.end()) {
      findings_->add(FaultKind::bad_certificate,
                     "certificate: tree: width is none of rack, pod, cluster: " + *raw.width);
      return set;
    }
    set.width = static_cast<Level>(static_cast<std::size_t>(Level::rack) +
                                   static_cast<std::size_t>(width - kWidths.begin()));
    return set;
  }

  Findings* findings_;
  Names types_, pods_, racks_, jobs_;
};

}  // namespace

BoundTree read_tree(const model::InstanceView& instance, const RawCertificate& raw,
                    Findings& findings) {
  BoundTree tree;
  if (raw.tree.empty()) return tree;
  TreeReading reading(instance, findings);
  for (const auto& node : raw.tree) tree.nodes.push_back(reading.node(node));
  return tree;
}

}  // namespace berth::certify
