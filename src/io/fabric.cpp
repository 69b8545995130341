// SPDX-License-Identifier: Apache-2.0
#include "fabric.hpp"

#include "machine_classes.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "berth/base/error.hpp"

namespace berth::io {
namespace {

/// Union-find over names; the smallest name represents its set.
class Groups {
 public:
  const std::string& root(const std::string& name) {
    const auto found = parent_.try_emplace(name, name).first;
    if (found->second == name) return found->first;
    const std::string& top = root(found->second);
    found->second = top;
    return top;
  }
  void join(const std::string& a, const std::string& b) {
    const std::string x = root(a), y = root(b);
    if (x == y) return;
    parent_[std::max(x, y)] = std::min(x, y);
  }

 private:
  std::map<std::string, std::string> parent_;
};

/// Hosts of each rack, by the name of the rack's first leaf.
using Racks = std::map<std::string, std::vector<std::string>>;  // hosts, ascending

class FabricBuilder {
 public:
  FabricBuilder(const SwitchFabric& fabric, const HostOptions& host)
      : fabric_(fabric), host_(host) {}

  model::Cluster build() {
    for (const auto& [host, leaves] : fabric_.leaves_of) {
      for (const std::string& leaf : leaves) units_.join(*leaves.begin(), leaf);
    }
    Racks racks;
    for (const auto& [host, leaves] : fabric_.leaves_of) {
      racks[units_.root(*leaves.begin())].push_back(host);
    }
    std::map<std::string, double> gbps;
    for (const auto& [leaf, above] : fabric_.uplinks_of) {
      const std::string& rack = units_.root(leaf);
      if (!racks.contains(rack)) continue;  // no host is connected there
      for (const auto& [upper, rate] : above) {
        planes_.join("rack " + rack, "switch " + upper);
        gbps[rack] += rate;
      }
    }
    std::map<std::string, std::vector<std::string>> pods;
    for (const auto& [rack, hosts] : racks) pods[planes_.root("rack " + rack)].push_back(rack);
    for (const auto& [name, members] : pods) {
      cluster_.pods.push_back({.name = "pod-" + std::to_string(cluster_.pods.size())});
      for (const std::string& rack : members) add_rack(rack, racks.at(rack), gbps[rack]);
    }
    return std::move(cluster_);
  }

 private:
  void add_rack(const std::string& name, const std::vector<std::string>& hosts, double gbps) {
    MachineClasses classes(cluster_);
    model::Rack rack{.name = name, .pod = PodId(cluster_.pods.size() - 1)};
    if (gbps > 0.0) rack.uplink_gbps = gbps;
    cluster_.racks.push_back(rack);
    for (const std::string& host : hosts) {
      cluster_.machine_names.add(host);
      cluster_.machine_class.push_back(class_id(classes));
      cluster_.machine_rack.push_back(RackId(cluster_.racks.size() - 1));
    }
  }

  ClassId class_id(MachineClasses& classes) {
    if (!class_.valid()) {
      class_ =
          classes.of(host_.gpus > 0 ? host_.gpu_type : "",
                     {.name = {},
                      .gpu_type = {},
                      .gpus = static_cast<std::int32_t>(host_.gpus),
                      .capacity = model::machine_capacity({host_.cpu_milli, host_.memory_mib})});
    }
    return class_;
  }

  const SwitchFabric& fabric_;
  const HostOptions& host_;
  Groups units_, planes_;
  model::Cluster cluster_;
  ClassId class_;
};

}  // namespace

model::Cluster cluster_of(const SwitchFabric& fabric, const HostOptions& host,
                          const std::string& file) {
  const auto refuse = [&](const char* field, const std::string& problem) {
    throw InputError({.file = file, .line = 0, .field = field}, problem);
  };
  if (host.gpus < 0 || host.gpus > model::kMaxGpusPerMachine) {
    refuse("gpus-per-host", "must be 0 .. 64");
  }
  if (host.gpus > 0 && host.gpu_type.empty()) refuse("gpu-type", "GPUs have a type");
  if (fabric.leaves_of.empty()) refuse("", "no host hangs on any switch");
  return FabricBuilder(fabric, host).build();
}

}  // namespace berth::io
