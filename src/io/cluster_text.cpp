// SPDX-License-Identifier: Apache-2.0
#include "id_range.hpp"
#include "machine_states.hpp"
#include "windows.hpp"
#include "yaml_scalar.hpp"

#include <array>
#include <cmath>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "berth/base/error.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/file.hpp"
#include "berth/model/limit_table.hpp"

namespace berth::io {
namespace {

using model::Cluster;

bool plain(std::string_view name) {
  constexpr std::array<std::string_view, 9> reserved{"true", "false", "yes", "no", "on",
                                                     "off",  "null",  "y",   "n"};
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string lower;
  for (const char c : name) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const std::string_view word : reserved) {
    if (lower == word) return false;
  }
  return letters.find(name.front()) != std::string_view::npos &&
         name.find_first_not_of(std::string(letters) + "0123456789_.-") == std::string_view::npos;
}

}  // namespace

std::string yaml_scalar(std::string_view name) {
  if (plain(name)) return std::string(name);
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

namespace {

/// A line for each limit that the rack or pod has.
template <class Domain>
std::string limits(std::string_view indent, const Domain& domain) {
  std::string text;
  for_each_limit(domain, [&](const model::LimitRow& row, double limit) {
    if (std::isfinite(limit)) text += fmt::format("{}{}: {}\n", indent, row.key, limit);
  });
  return text;
}

void add_classes(std::string& text, const Cluster& cluster) {
  text += cluster.classes.empty() ? "classes: {}\n" : "classes:\n";
  for (const model::MachineClass& c : cluster.classes) {
    const std::string type =
        c.gpu_type.valid()
            ? "gpu_type: " + yaml_scalar(cluster.gpu_types[c.gpu_type.index()]) + ", "
            : "";
    text += fmt::format("  {}: {{{}gpus: {}", yaml_scalar(c.name), type, c.gpus);
    for (std::size_t r = 0; r < model::kResources; ++r) {
      if (c.capacity[r] == model::kNoLimit) continue;
      text += fmt::format(", {}: {}", model::kResourceTable[r].key, c.capacity[r]);
    }
    if (c.gpu_slices > 0) text += fmt::format(", gpu_slices: {}", c.gpu_slices);
    text += "}\n";
  }
}

void add_ids(std::string& text, const std::vector<std::string>& ranges) {
  if (ranges.size() > 1) text += '[';
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (i > 0) text += ", ";
    text += yaml_scalar(ranges[i]);
  }
  if (ranges.size() > 1) text += ']';
}

/// Appends machines [begin, end) of one rack; one entry for each run of one class.
void add_machines(std::string& text, const Cluster& cluster, std::size_t begin, std::size_t end) {
  RangeBuilder ranges;
  for (std::size_t m = begin; m < end; ++m) {
    const std::string_view name = cluster.machine_names[m];
    if (name.find_first_of("[]") != std::string_view::npos) {
      throw InputError({.file = "", .line = 0, .field = "machine " + std::string(name)},
                       "a cluster file cannot hold a machine name with brackets");
    }
    ranges.add(name);
    if (m + 1 < end && cluster.machine_class[m + 1] == cluster.machine_class[m]) continue;
    text += "          - {ids: ";
    add_ids(text, ranges.finish());
    text += ", class: " + yaml_scalar(cluster.class_of(MachineId(m)).name) + "}\n";
  }
}

void add_pods(std::string& text, const Cluster& cluster) {
  text += cluster.pods.empty() ? "pods: []\n" : "pods:\n";
  std::size_t rack = 0;
  std::size_t machine = 0;
  for (std::size_t p = 0; p < cluster.pods.size(); ++p) {
    const model::Pod& pod = cluster.pods[p];
    text += "  - id: " + yaml_scalar(pod.name) + "\n";
    text += limits("    ", pod) + "    racks:\n";
    for (; rack < cluster.racks.size() && cluster.racks[rack].pod == PodId(p); ++rack) {
      const model::Rack& r = cluster.racks[rack];
      text += "      - id: " + yaml_scalar(r.name) + "\n";
      text += limits("        ", r) + "        machines:\n";
      const std::size_t begin = machine;
      while (machine < cluster.machines() && cluster.machine_rack[machine] == RackId(rack))
        ++machine;
      add_machines(text, cluster, begin, machine);
    }
  }
}

void add_queues(std::string& text, const Cluster& cluster) {
  if (!cluster.queues.empty()) text += "queues:\n";
  for (const model::Queue& queue : cluster.queues) {
    text += "  - {id: " + yaml_scalar(queue.name);
    if (queue.gpu_quota >= 0) text += fmt::format(", gpu_quota: {}", queue.gpu_quota);
    if (queue.parent.valid()) {
      text += ", parent: " + yaml_scalar(cluster.queues[queue.parent.index()].name);
    }
    if (std::isfinite(queue.over_quota_penalty)) {
      text += fmt::format(", over_quota_penalty: {}", queue.over_quota_penalty);
    }
    if (queue.gpu_hours >= 0) text += fmt::format(", gpu_hours: {}", queue.gpu_hours);
    text += "}\n";
  }
}

void add_spare(std::string& text, const Cluster& cluster) {
  if (!cluster.spare.empty()) text += "spare:\n";
  for (const model::Spare& spare : cluster.spare) {
    text += "  - {pod: " + yaml_scalar(cluster.pods[spare.pod.index()].name);
    text += ", gpu_type: " + yaml_scalar(cluster.gpu_types[spare.gpu_type.index()]);
    text += fmt::format(", gpus: {}, penalty: {}}}\n", spare.gpus, spare.penalty);
  }
}

void add_licenses(std::string& text, const Cluster& cluster) {
  if (!cluster.licenses.empty()) text += "licenses:\n";
  for (const model::License& license : cluster.licenses) {
    text += fmt::format("  {}: {}\n", yaml_scalar(license.name), license.count);
  }
}

}  // namespace

std::string cluster_text(const Cluster& cluster) {
  std::string text = "schema: 1\n";
  add_classes(text, cluster);
  add_pods(text, cluster);
  add_queues(text, cluster);
  add_spare(text, cluster);
  add_licenses(text, cluster);
  text += machine_states_text(cluster) + windows_text(cluster);
  return text;
}

void write_cluster(const std::string& path, const Cluster& cluster) {
  write_atomically(path, [&](AtomicFile& file) { file.write(cluster_text(cluster)); });
}

}  // namespace berth::io
