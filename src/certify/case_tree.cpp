// SPDX-License-Identifier: Apache-2.0
#include "case_tree.hpp"

#include "job_value.hpp"

#include <algorithm>
#include <map>

#include "berth/base/assert.hpp"

namespace berth::certify {

using model::Certificate;
using model::InstanceView;
using model::Level;

SpotIndex::SpotIndex(const model::Cluster& cluster)
    : cluster_(&cluster),
      types_(cluster.gpu_types.size()),
      racks_(cluster.racks.size()),
      pods_(cluster.pods.size()),
      row_(racks_ + pods_ + 1),
      there_(types_ * row_, false) {
  for (std::size_t m = 0; m < cluster.machine_class.size(); ++m) {
    const GpuTypeId type = cluster.classes[cluster.machine_class[m].index()].gpu_type;
    if (!type.valid()) continue;
    const RackId rack = cluster.machine_rack[m];
    there_[in_rack(type, rack)] = true;
    there_[over_racks(type, cluster.racks[rack.index()].pod)] = true;
    there_[over_pods(type)] = true;
  }
}

bool SpotIndex::holds(const model::SpotSet& set, RackId rack) const {
  if (set.rack.valid() && set.rack != rack) return false;
  return !set.pod.valid() || set.pod == cluster_->racks[rack.index()].pod;
}

void SpotIndex::add(const model::SpotSet& set, std::vector<bool>& spots) const {
  const auto wide_as = [&](Level width) { return !set.width || *set.width == width; };
  for (std::size_t t = 0; t < types_; ++t) {
    const GpuTypeId type(t);
    if (set.gpu_type.valid() && set.gpu_type != type) continue;
    for (std::size_t r = 0; wide_as(Level::rack) && r < racks_; ++r) {
      if (holds(set, RackId(r))) spots[in_rack(type, RackId(r))] = true;
    }
    if (set.rack.valid()) continue;
    for (std::size_t p = 0; wide_as(Level::pod) && p < pods_; ++p) {
      if (!set.pod.valid() || set.pod == PodId(p)) spots[over_racks(type, PodId(p))] = true;
    }
    if (wide_as(Level::cluster) && !set.pod.valid()) spots[over_pods(type)] = true;
  }
}

std::vector<bool> SpotIndex::of(const model::WorkloadView& workload, const model::Job& job) const {
  std::int64_t tasks = 0;
  for (const model::TaskGroup& g : workload.groups_of(job)) tasks += g.count;
  const Level widest = tasks == 1 ? Level::machine : job.domain;
  std::vector<bool> spots(size(), false);
  for (std::size_t t = 0; t < types_; ++t) {
    if (((job.gpu_types >> t) & 1) == 0) continue;
    const auto first = spots.begin() + static_cast<std::ptrdiff_t>(t * row_);
    std::fill_n(first, racks_, true);
    if (widest >= Level::pod) std::fill_n(first + static_cast<std::ptrdiff_t>(racks_), pods_, true);
    if (widest >= Level::cluster) spots[over_pods(GpuTypeId(t))] = true;
  }
  for (std::size_t s = 0; s < spots.size(); ++s) spots[s] = spots[s] && there_[s];
  return spots;
}

std::string SpotIndex::name(std::size_t spot) const {
  const std::size_t place = spot % row_;
  const std::string type = "on " + cluster_->gpu_types[spot / row_];
  if (place < racks_) return type + " in rack " + cluster_->racks[place].name;
  if (place + 1 == row_) return type + " over pods";
  return type + " over racks of pod " + cluster_->pods[place - racks_].name;
}

CaseTree::CaseTree(const InstanceView& instance, const Certificate& certificate,
                   std::span<const JobId> required_placed)
    : instance_(instance),
      certificate_(&certificate),
      nodes_(certificate.tree.nodes),
      spots_(instance.cluster),
      required_(instance.workload.size(), false),
      children_(nodes_.size()),
      named_(nodes_.size()) {
  if (nodes_.empty()) {
    leaves_.push_back(0);
    return;
  }
  for (const JobId j : required_placed) required_[j.index()] = true;
  for (std::size_t n = 1; n < nodes_.size(); ++n) {
    children_[parent(n)].push_back(n);
    named_[n].assign(spots_.size(), false);
    for (const model::SpotSet& set : nodes_[n].spots) spots_.add(set, named_[n]);
  }
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (children_[n].empty()) leaves_.push_back(n);
    std::vector<bool> rest(spots_.size(), true);
    for (const std::size_t c : children_[n]) {
      for (std::size_t s = 0; s < rest.size(); ++s) rest[s] = rest[s] && !named_[c][s];
    }
    for (const std::size_t c : children_[n]) {
      if (!nodes_[c].rest) continue;
      for (std::size_t s = 0; s < rest.size(); ++s) named_[c][s] = named_[c][s] || rest[s];
    }
  }
}

/// Combines the restrictions of the job at all nodes from the root to this one.
ConfinedJob CaseTree::confined(std::size_t node, JobId job) const {
  const model::Job& of = instance_.workload.job(job);
  ConfinedJob result{job, !required_[job.index()], spots_.of(instance_.workload, of)};
  for (std::size_t n = node; n != 0; n = parent(n)) {
    if (nodes_[parent(n)].split != job) continue;
    result.out = result.out && nodes_[n].out;
    for (std::size_t s = 0; s < result.spots.size(); ++s) {
      result.spots[s] = result.spots[s] && named_[n][s];
    }
  }
  return result;
}

Leaf CaseTree::leaf(std::size_t index) const {
  if (nodes_.empty()) return {certificate_->jobs, {}};
  std::vector<std::size_t> way;
  for (std::size_t n = leaves_[index]; n != 0; n = parent(n)) way.push_back(n);
  std::vector<Certificate::JobPrice> prices = certificate_->jobs;
  for (const auto& c : nodes_[0].changes) prices[c.position].price = c.price;
  std::vector<JobId> split;
  for (auto n = way.rbegin(); n != way.rend(); ++n) {
    split.push_back(nodes_[parent(*n)].split);
    for (const auto& c : nodes_[*n].changes) prices[c.position].price = c.price;
  }
  std::ranges::sort(split);
  split.erase(std::unique(split.begin(), split.end()), split.end());
  Leaf leaf;
  std::vector<bool> nowhere(required_.size(), false);
  for (const JobId job : split) {
    const ConfinedJob& c = leaf.confined.emplace_back(confined(leaves_[index], job));
    // A job that must be placed and cannot be: the leaf contains no plan, and any price proves it.
    nowhere[job.index()] = c.out && std::ranges::find(c.spots, true) == c.spots.end();
  }
  for (const auto& p : prices) {
    if (!nowhere[p.job.index()]) leaf.prices.push_back(p);
  }
  return leaf;
}

std::size_t CaseTree::leaf_of(const InstanceView& instance,
                              const model::Placement& placement) const {
  if (nodes_.empty()) return 0;
  std::map<JobId, std::size_t> spot_of;
  for (const model::JobPlacement& placed : placement) {
    const PlacementExtent r = extent_of(instance, placed);
    if (!r.type.valid()) continue;
    const RackId rack = instance.cluster.machine_rack[placed.tasks.front().machine.index()];
    const PodId pod = instance.cluster.racks[rack.index()].pod;
    spot_of[placed.job] = r.width <= Level::rack  ? spots_.in_rack(r.type, rack)
                          : r.width == Level::pod ? spots_.over_racks(r.type, pod)
                                                  : spots_.over_pods(r.type);
  }
  std::size_t node = 0;
  while (!children_[node].empty()) {
    const auto at = spot_of.find(nodes_[node].split);
    const auto next = std::ranges::find_if(children_[node], [&](std::size_t c) {
      return at == spot_of.end() ? nodes_[c].out : named_[c][at->second];
    });
    BERTH_EXPECT(next != children_[node].end());
    node = *next;
  }
  return static_cast<std::size_t>(std::ranges::find(leaves_, node) - leaves_.begin());
}

std::string CaseTree::fault_at(std::size_t node) const {
  const ConfinedJob all = confined(node, nodes_[node].split);
  const std::string job =
      "job " + std::string(instance_.workload.tables().job_names[all.job.index()]);
  const auto told = [&](std::int64_t have, const std::string& what) {
    return job + " " + what + " is in " + (have == 0 ? "no" : "more than one") + " child of node " +
           std::to_string(node) + " of the tree";
  };
  const auto& children = children_[node];
  const auto out = std::ranges::count_if(children, [&](std::size_t c) { return nodes_[c].out; });
  if (all.out && out != 1) return told(out, "left out");
  for (std::size_t s = 0; s < all.spots.size(); ++s) {
    if (!all.spots[s]) continue;
    const auto have = std::ranges::count_if(children, [&](std::size_t c) { return named_[c][s]; });
    if (have != 1) return told(have, spots_.name(s));
  }
  return {};
}

std::string CaseTree::bad_sign(std::size_t node) const {
  for (const auto& c : nodes_[node].changes) {
    const JobId job = certificate_->jobs[c.position].job;
    if (c.price >= 0 || !confined(node, job).out) continue;
    return "price of job " + std::string(instance_.workload.tables().job_names[job.index()]) +
           " is negative in node " + std::to_string(node) +
           " of the tree, where it may be left out";
  }
  return {};
}

std::string CaseTree::fault() const {
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    std::string fault = children_[n].empty() ? std::string{} : fault_at(n);
    if (fault.empty()) fault = bad_sign(n);
    if (!fault.empty()) return fault;
  }
  return {};
}

namespace {

bool missing(auto id, std::size_t size) { return id.valid() && id.index() >= size; }

std::string bad_spots(const model::Cluster& cluster, const model::SpotSet& set) {
  if (missing(set.gpu_type, cluster.gpu_types.size()) || missing(set.pod, cluster.pods.size()) ||
      missing(set.rack, cluster.racks.size())) {
    return "names a place or GPU type that does not exist";
  }
  if (set.width && *set.width == Level::machine) return "has spots of width machine";
  return {};
}

std::string bad_changes(const Certificate& certificate, const model::BoundTree::TreeNode& node) {
  for (std::size_t i = 0; i < node.changes.size(); ++i) {
    const std::uint32_t at = node.changes[i].position;
    if (at >= certificate.jobs.size()) return "changes a price that is not listed";
    if (i > 0 && at <= node.changes[i - 1].position) {
      return "changes prices not in ascending order";
    }
  }
  return {};
}

/// Checks a node's content; its position in the tree is checked elsewhere.
std::string bad_content(const InstanceView& instance, const Certificate& certificate,
                        const model::BoundTree::TreeNode& node) {
  for (const model::SpotSet& set : node.spots) {
    if (std::string fault = bad_spots(instance.cluster, set); !fault.empty()) return fault;
  }
  if (node.split.valid() &&
      std::ranges::find(certificate.jobs, node.split, &Certificate::JobPrice::job) ==
          certificate.jobs.end())
    return "splits a job that has no price of its own";
  return bad_changes(certificate, node);
}

}  // namespace

std::string bad_tree(const InstanceView& instance, const Certificate& certificate) {
  const auto& nodes = certificate.tree.nodes;
  std::vector<bool> has_children(nodes.size(), false);
  const auto which = [](std::size_t n) { return "node " + std::to_string(n) + " of the tree "; };
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const std::int64_t parent = nodes[n].parent;
    if (n == 0 && parent != -1) return which(n) + "is the root, but has a parent";
    if (n > 0 && (parent < 0 || parent >= static_cast<std::int64_t>(n))) {
      return which(n) + "has no parent that comes before it";
    }
    if (n > 0) has_children[static_cast<std::size_t>(parent)] = true;
    const std::string fault = bad_content(instance, certificate, nodes[n]);
    if (!fault.empty()) return which(n) + fault;
  }
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (has_children[n] && !nodes[n].split.valid()) {
      return which(n) + "has children, but splits no job";
    }
    if (!has_children[n] && nodes[n].split.valid()) {
      return which(n) + "splits a job, but has no children";
    }
  }
  return {};
}

}  // namespace berth::certify
