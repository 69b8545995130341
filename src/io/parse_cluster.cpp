// SPDX-License-Identifier: Apache-2.0
#include "document.hpp"
#include "id_range.hpp"
#include "machine_states.hpp"
#include "resource_keys.hpp"
#include "spare_gpus.hpp"
#include "windows.hpp"
#include "words.hpp"
#include "yaml_fields.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include <simdjson.h>

#include "berth/base/error.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/file.hpp"
#include "berth/model/limit_table.hpp"
#include "berth/model/number_by_use.hpp"

namespace berth::io {
namespace {

using model::Cluster;
using model::kMaxGpusPerMachine;
using model::kMaxGpuTypes;

/// Guard: 16,777,216 machines, far below the range of MachineId
constexpr std::uint64_t kMaxMachines = std::uint64_t{1} << 24;

/// The keys of a rack or a pod.
template <class Domain>
std::vector<std::string_view> keys_with_limits(const Domain& domain, std::string_view content) {
  std::vector<std::string_view> keys{"id"};
  for_each_limit(domain, [&](const model::LimitRow& row, double) { keys.push_back(row.key); });
  keys.push_back(content);
  return keys;
}

/// Reads a cluster from top to bottom; records lines for messages about ids given twice.
class ClusterReader {
 public:
  Cluster read(const YamlAt& top);

 private:
  using Seen = std::map<std::string, std::int64_t, std::less<>>;  // id -> line

  void read_classes(const YamlAt& classes);
  void read_class(const YamlAt& at, const std::string& name);
  GpuTypeId gpu_type(const YamlAt& at);
  void read_pod(const YamlAt& at);
  void read_rack(const YamlAt& at, PodId pod);
  void read_machines(const YamlAt& at, RackId rack);
  void add_machines(const YamlAt& ids, ClassId machine_class, RackId rack);
  void read_queue(const YamlAt& at);
  void read_licenses(const YamlAt& licenses);
  ClassId class_named(const YamlAt& at) const;
  QueueId queue_named(const YamlAt& at) const;
  void refuse_repeated_machines(const YamlAt& top) const;
  static std::string new_id(const YamlAt& at, Seen& seen, const char* what);
  template <class Domain>
  static void read_limits(const YamlMap& map, Domain& domain);

  Cluster cluster_;
  Seen classes_, pods_, racks_, queues_;
  std::map<std::string, QueueId, std::less<>> queue_ids_;
  std::vector<std::int32_t> machine_line_;
};

std::string ClusterReader::new_id(const YamlAt& at, Seen& seen, const char* what) {
  std::string id = at.name();
  const auto [entry, fresh] = seen.try_emplace(id, at.line());
  if (!fresh) {
    at.fail(std::string(what) + " " + in_quotes(id) + " is given twice",
            "first on line " + std::to_string(entry->second));
  }
  return id;
}

template <class Domain>
void ClusterReader::read_limits(const YamlMap& map, Domain& domain) {
  for_each_limit(domain, [&](const model::LimitRow& row, double& limit) {
    if (const auto given = map.find(row.key)) limit = given->amount(row.most);
  });
}

void ClusterReader::read_classes(const YamlAt& classes) {
  if (classes.empty()) return;
  if (!classes.node().is_map()) classes.fail("expected classes by name");
  for_each_entry(classes.node(), [&](const Node& key, const Node& value) {
    const std::string word(key_text(key));
    const std::string name = new_id(YamlAt(key, classes, word), classes_, "class");
    read_class(YamlAt(key, value, classes, name), name);
  });
}

GpuTypeId ClusterReader::gpu_type(const YamlAt& at) {
  const std::string type = at.name();
  auto& types = cluster_.gpu_types;
  for (std::size_t t = 0; t < types.size(); ++t) {
    if (types[t] == type) return GpuTypeId(t);
  }
  if (types.size() == kMaxGpuTypes) at.fail("more than 64 GPU types");
  types.push_back(type);
  return GpuTypeId(types.size() - 1);
}

std::int32_t gpu_slices(const YamlAt& at, std::int64_t gpus) {
  const std::int64_t slices = at.integer(kMaxCount);
  if (gpus == 0) at.fail("a class without GPUs has no gpu_slices", "give gpus, or drop it");
  if (slices < 1 || slices > model::kMaxGpuSlices) {
    at.fail(
        std::to_string(slices) + " slices; a GPU has 1 to " + std::to_string(model::kMaxGpuSlices),
        "leave it out where shares may have any size");
  }
  return static_cast<std::int32_t>(slices);
}

void ClusterReader::read_class(const YamlAt& at, const std::string& name) {
  const YamlMap map(at, resource_keys<2, 3>({"gpu_type", "gpus"},
                                            {"gpu_slices", kUnitKeys[0].key, kUnitKeys[1].key}));
  model::MachineClass c{.name = name, .gpu_type = {}};
  const auto gpus = map.find("gpus");
  const auto type = map.find("gpu_type");
  const std::int64_t count = gpus ? gpus->integer(kMaxCount) : 0;
  if (count > kMaxGpusPerMachine) {
    gpus->fail(std::to_string(count) + " GPUs; a machine has at most 64",
               "describe larger units as racks of machines");
  }
  if (count > 0 && !type) at.fail("\"gpu_type\" is missing", "GPUs have a type, e.g. gpu_type: G2");
  if (count == 0 && type)
    type->fail("a class without GPUs has no gpu_type", "give gpus, or drop it");
  c.gpus = static_cast<std::int32_t>(count);
  if (type) c.gpu_type = gpu_type(*type);
  read_resources(map, c.capacity);
  if (const auto slices = map.find("gpu_slices")) c.gpu_slices = gpu_slices(*slices, count);
  cluster_.classes.push_back(std::move(c));
}

ClassId ClusterReader::class_named(const YamlAt& at) const {
  const std::string name = at.name();
  std::vector<std::string_view> known;
  for (std::size_t c = 0; c < cluster_.classes.size(); ++c) {
    if (cluster_.classes[c].name == name) return ClassId(c);
    known.push_back(cluster_.classes[c].name);
  }
  at.fail("unknown class " + in_quotes(name), known_words(name, known));
}

void ClusterReader::read_pod(const YamlAt& at) {
  const YamlMap map(at, keys_with_limits(model::Pod{}, "racks"));
  const PodId pod(cluster_.pods.size());
  cluster_.pods.push_back({.name = new_id(map.need("id"), pods_, "pod")});
  read_limits(map, cluster_.pods.back());
  if (const auto racks = map.find("racks")) {
    racks->each([&](const YamlAt& rack) { read_rack(rack, pod); });
  }
}

void ClusterReader::read_rack(const YamlAt& at, PodId pod) {
  const YamlMap map(at, keys_with_limits(model::Rack{}, "machines"));
  const RackId rack(cluster_.racks.size());
  cluster_.racks.push_back({.name = new_id(map.need("id"), racks_, "rack"), .pod = pod});
  read_limits(map, cluster_.racks.back());
  if (const auto machines = map.find("machines")) {
    machines->each([&](const YamlAt& some) { read_machines(some, rack); });
  }
}

void ClusterReader::read_machines(const YamlAt& at, RackId rack) {
  const YamlMap map(at, {"ids", "class"});
  const ClassId machine_class = class_named(map.need("class"));
  const YamlAt ids = map.need("ids");
  if (ids.node().is_list()) {
    ids.each([&](const YamlAt& some) { add_machines(some, machine_class, rack); });
  } else {
    add_machines(ids, machine_class, rack);
  }
}

void ClusterReader::add_machines(const YamlAt& ids, ClassId machine_class, RackId rack) {
  const auto [range, fault] = parse_id_range(ids.name());
  if (!fault.empty()) ids.fail(fault);
  if (range.count() + cluster_.machines() > kMaxMachines) {
    ids.fail("more than " + std::to_string(kMaxMachines) + " machines in the cluster");
  }
  for_each_id(range, [&](std::string_view name) {
    cluster_.machine_names.add(name);
    cluster_.machine_class.push_back(machine_class);
    cluster_.machine_rack.push_back(rack);
    machine_line_.push_back(static_cast<std::int32_t>(ids.line()));
  });
}

QueueId ClusterReader::queue_named(const YamlAt& at) const {
  const std::string name = at.name();
  if (const auto found = queue_ids_.find(name); found != queue_ids_.end()) return found->second;
  std::vector<std::string_view> known;
  for (const model::Queue& queue : cluster_.queues) known.push_back(queue.name);
  at.fail("unknown queue " + in_quotes(name),
          known.empty() ? "a parent comes before its children" : known_words(name, known));
}

void ClusterReader::read_queue(const YamlAt& at) {
  const YamlMap map(at, {"id", "gpu_quota", "parent", "over_quota_penalty", "gpu_hours"});
  const auto parent = map.find("parent");
  model::Queue queue{.name = {}};
  if (parent) queue.parent = queue_named(*parent);
  queue.name = new_id(map.need("id"), queues_, "queue");
  const auto quota = map.find("gpu_quota");
  if (quota) queue.gpu_quota = quota->integer(kMaxAmount);
  if (const auto penalty = map.find("over_quota_penalty")) {
    if (!quota) penalty->fail("a queue without gpu_quota is never over it", "give gpu_quota too");
    queue.over_quota_penalty = penalty->amount(kMaxPenalty);
  }
  if (const auto hours = map.find("gpu_hours")) queue.gpu_hours = hours->integer(kMaxAmount);
  queue_ids_.emplace(queue.name, QueueId(cluster_.queues.size()));
  cluster_.queues.push_back(std::move(queue));
}

void ClusterReader::read_licenses(const YamlAt& licenses) {
  if (licenses.empty()) return;
  if (!licenses.node().is_map()) licenses.fail("expected numbers by name", "e.g. {matlab: 4}");
  Seen seen;
  for_each_entry(licenses.node(), [&](const Node& key, const Node& value) {
    const std::string word(key_text(key));
    const std::string name = new_id(YamlAt(key, licenses, word), seen, "license");
    const YamlAt count(key, value, licenses, name);
    cluster_.licenses.push_back({.name = name, .count = count.integer(kMaxAmount)});
  });
  std::ranges::sort(cluster_.licenses, {}, &model::License::name);
}

void ClusterReader::refuse_repeated_machines(const YamlAt& top) const {
  std::unordered_map<std::string_view, std::size_t> first;
  first.reserve(cluster_.machines());
  for (std::size_t m = 0; m < cluster_.machines(); ++m) {
    const std::string_view name = cluster_.machine_names[m];
    const auto [entry, fresh] = first.try_emplace(name, m);
    if (fresh) continue;
    top.fail_on(machine_line_[m], "machine " + in_quotes(name) + " is given twice",
                "first on line " + std::to_string(machine_line_[entry->second]));
  }
}

Cluster ClusterReader::read(const YamlAt& top) {
  if (top.empty()) top.fail("is empty", "a cluster begins with schema: 1");
  const YamlMap map(top, {"schema", "classes", "pods", "queues", "spare", "machine_states",
                          "windows", "licenses"});
  const YamlAt schema = map.need("schema");
  if (schema.text() != "1")
    schema.fail("unknown schema " + in_quotes(schema.text()), "this is schema 1");
  if (const auto classes = map.find("classes")) read_classes(*classes);
  if (const auto pods = map.find("pods")) {
    pods->each([&](const YamlAt& pod) { read_pod(pod); });
  }
  if (const auto queues = map.find("queues")) {
    queues->each([&](const YamlAt& queue) { read_queue(queue); });
  }
  if (const auto licenses = map.find("licenses")) read_licenses(*licenses);
  refuse_repeated_machines(top);
  model::number_by_use(cluster_);
  if (const auto spare = map.find("spare")) read_spare(*spare, cluster_);
  if (const auto states = map.find("machine_states")) read_machine_states(*states, cluster_);
  if (const auto windows = map.find("windows")) read_windows(*windows, cluster_);
  return std::move(cluster_);
}

}  // namespace

Cluster parse_cluster(std::string_view text, const std::string& file) {
  if (!simdjson::validate_utf8(text.data(), text.size())) {
    throw InputError({.file = file, .line = 0, .field = ""}, "is not UTF-8 text");
  }
  const Document document = read_document(text, file);
  return ClusterReader().read(YamlAt(document.root(), file));
}

Cluster read_cluster(const std::string& path) {
  constexpr std::size_t kMostClusterText = std::size_t{256} << 20;  // a million machines by name
  return parse_cluster(read_file(path, kMostClusterText), path);
}

}  // namespace berth::io
