// SPDX-License-Identifier: Apache-2.0
#include "spare_gpus.hpp"

#include "words.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::io {
namespace {

using model::Cluster;
using model::Spare;

class SpareReader {
 public:
  explicit SpareReader(Cluster& cluster) : cluster_(&cluster) {
    for (std::size_t m = 0; m < cluster.machines(); ++m) {
      const model::MachineClass& c = cluster.class_of(MachineId(m));
      if (c.gpus > 0) gpus_[{cluster.pod_of(MachineId(m)), c.gpu_type}] += c.gpus;
    }
  }

  void read_entry(const YamlAt& at) {
    const YamlMap map(at, {"pod", "gpu_type", "gpus", "percent", "penalty"});
    const GpuTypeId type = type_named(map.need("gpu_type"));
    const double penalty = map.need("penalty").amount(kMaxPenalty);
    if (const auto name = map.find("pod")) {
      const PodId pod = pod_named(*name);
      if (!gpus_.contains({pod, type})) {
        name->fail("pod " + in_quotes(cluster_->pods[pod.index()].name) + " has no GPUs of type " +
                   in_quotes(cluster_->gpu_types[type.index()]));
      }
      add(at, map, {.pod = pod, .gpu_type = type, .penalty = penalty});
      return;
    }
    for (const auto& [key, gpus] : gpus_) {
      if (key.second != type) continue;
      add(at, map, {.pod = key.first, .gpu_type = type, .penalty = penalty});
    }
  }

 private:
  /// Index of the name; fails when no item has it.
  template <class Items, class NameOf>
  static std::size_t named(const YamlAt& at, const Items& items, std::string_view what,
                           const NameOf& name_of) {
    const std::string name = at.name();
    std::vector<std::string_view> known;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (name_of(items[i]) == name) return i;
      known.push_back(name_of(items[i]));
    }
    at.fail("unknown " + std::string(what) + " " + in_quotes(name), known_words(name, known));
  }

  [[nodiscard]] GpuTypeId type_named(const YamlAt& at) const {
    if (cluster_->gpu_types.empty()) at.fail("no machine has GPUs", "drop the entry");
    return GpuTypeId(named(at, cluster_->gpu_types, "GPU type",
                           [](const std::string& type) { return std::string_view(type); }));
  }

  [[nodiscard]] PodId pod_named(const YamlAt& at) const {
    return PodId(named(at, cluster_->pods, "pod",
                       [](const model::Pod& pod) { return std::string_view(pod.name); }));
  }

  /// This percentage of the GPUs, rounded up.
  static std::int64_t part_of(std::int64_t gpus, const YamlAt& percent) {
    const double given = percent.amount(kMaxPenalty);
    if (given > 100.0) percent.fail("more than 100 percent of a pod's GPUs", "0 to 100");
    return static_cast<std::int64_t>(std::ceil(given * static_cast<double>(gpus) / 100.0));
  }

  /// Adds one pod's spare GPUs; none when they are 0.
  void add(const YamlAt& at, const YamlMap& map, Spare spare) {
    const std::string which = "spare GPUs of type " +
                              in_quotes(cluster_->gpu_types[spare.gpu_type.index()]) + " of pod " +
                              in_quotes(cluster_->pods[spare.pod.index()].name);
    const auto [entry, fresh] = line_.try_emplace(Spare::key(spare), at.line());
    if (!fresh)
      at.fail(which + " are given twice", "first on line " + std::to_string(entry->second));
    const std::int64_t all = gpus_.at(Spare::key(spare));
    const auto gpus = map.find("gpus"), percent = map.find("percent");
    if (gpus.has_value() == percent.has_value()) {
      at.fail("needs either \"gpus\" or \"percent\"", "e.g. percent: 5");
    }
    spare.gpus = gpus ? gpus->integer(kMaxAmount) : part_of(all, *percent);
    if (spare.gpus > all) {
      gpus->fail(which + " are more than the pod has", "it has " + std::to_string(all));
    }
    if (spare.gpus > 0) cluster_->spare.push_back(spare);
  }

  Cluster* cluster_;
  std::map<std::pair<PodId, GpuTypeId>, std::int64_t> gpus_;  ///< of the pods' machines
  std::map<std::pair<PodId, GpuTypeId>, std::int64_t> line_;  ///< of the entry
};

}  // namespace

void read_spare(const YamlAt& list, Cluster& cluster) {
  SpareReader reader(cluster);
  list.each([&](const YamlAt& entry) { reader.read_entry(entry); });
  std::ranges::sort(cluster.spare, {}, Spare::key);
}

}  // namespace berth::io
