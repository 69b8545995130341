// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "berth/berth.hpp"

namespace berth {
namespace {

// ordered: the text has the keys as the caller gave them
using Json = nlohmann::ordered_json;

/// Adds the further keys of a spec. @param of  the member that has them, for messages
void add_more(Json& json, const std::string& more, const std::string& of) {
  if (more.empty()) return;
  const Json keys = Json::parse(more, nullptr, false);
  if (!keys.is_object()) {
    throw InputError({.file = "", .line = 0, .field = of + ".more"}, "is no JSON object",
                     R"(write the keys as {"name": value})");
  }
  for (const auto& [key, value] : keys.items()) {
    if (json.contains(key)) {
      throw InputError({.file = "", .line = 0, .field = of + ".more"},
                       fmt::format("\"{}\" is given twice", key), "set the member of that name only");
    }
    json[key] = value;
  }
}

/// One line. Text that is not UTF-8 becomes U+FFFD, which the readers name.
std::string line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append(std::string& list, const std::string& item) {
  list += (list.empty() ? "" : ",\n") + item;
}

template <class Value>
void add_unless(Json& json, const char* key, const Value& value, const Value& usual) {
  if (value != usual) json[key] = value;
}

Json task_json(const TaskSpec& task) {
  Json json = Json::object();
  const TaskSpec usual;
  add_unless(json, "shape", task.shape, usual.shape);
  add_unless(json, "count", task.count, usual.count);
  add_unless(json, "gpus", task.gpus, usual.gpus);
  add_unless(json, "gpu_milli", task.gpu_milli, usual.gpu_milli);
  add_unless(json, "cpu_milli", task.cpu_milli, usual.cpu_milli);
  add_unless(json, "memory_mib", task.memory_mib, usual.memory_mib);
  return json;
}

}  // namespace

ClusterBuilder& ClusterBuilder::add_class(const std::string& name, const MachineSpec& spec) {
  Json json = Json::object();
  const MachineSpec usual;
  add_unless(json, "gpu_type", spec.gpu_type, usual.gpu_type);
  add_unless(json, "gpus", spec.gpus, usual.gpus);
  add_unless(json, "cpu_milli", spec.cpu_milli, usual.cpu_milli);
  add_unless(json, "memory_mib", spec.memory_mib, usual.memory_mib);
  add_more(json, spec.more, "class " + name);
  append(classes_, line(name) + ": " + line(json));
  return *this;
}

ClusterBuilder& ClusterBuilder::add_machines(const std::string& pod, const std::string& rack,
                                             const std::string& ids,
                                             const std::string& machine_class) {
  if (std::ranges::find(pods_, pod) == pods_.end()) pods_.push_back(pod);
  auto at = std::ranges::find_if(
      racks_, [&](const Rack& known) { return known.pod == pod && known.rack == rack; });
  if (at == racks_.end()) at = racks_.insert(at, {.pod = pod, .rack = rack, .machines = {}});
  append(at->machines, line(Json{{"ids", ids}, {"class", machine_class}}));
  return *this;
}

ClusterBuilder& ClusterBuilder::add_queue(const std::string& name, const QueueSpec& spec) {
  Json json{{"id", name}};
  if (spec.gpu_quota >= 0) json["gpu_quota"] = spec.gpu_quota;
  add_unless(json, "parent", spec.parent, std::string());
  add_more(json, spec.more, "queue " + name);
  append(queues_, line(json));
  return *this;
}

ClusterBuilder& ClusterBuilder::set_state(const std::string& ids, const std::string& state) {
  append(states_, line(Json{{"ids", ids}, {"state", state}}));
  return *this;
}

std::string ClusterBuilder::text() const {
  std::string pods;
  for (const std::string& pod : pods_) {
    std::string racks;
    for (const Rack& rack : racks_) {
      if (rack.pod != pod) continue;
      append(racks, fmt::format("{{\"id\": {}, \"machines\": [{}]}}", line(rack.rack), rack.machines));
    }
    append(pods, fmt::format("{{\"id\": {}, \"racks\": [{}]}}", line(pod), racks));
  }
  std::string text = fmt::format("{{\"schema\": 1,\n\"classes\": {{{}}},\n\"pods\": [{}]", classes_, pods);
  if (!queues_.empty()) text += fmt::format(",\n\"queues\": [{}]", queues_);
  if (!states_.empty()) text += fmt::format(",\n\"machine_states\": [{}]", states_);
  return text + "}\n";
}

JobsBuilder& JobsBuilder::add(const JobSpec& job) {
  Json json{{"id", job.id}};
  const JobSpec usual;
  add_unless(json, "weight", job.weight, usual.weight);
  if (job.value) json["value"] = *job.value;
  add_unless(json, "priority", job.priority, usual.priority);
  add_unless(json, "required", job.required, usual.required);
  add_unless(json, "queue", job.queue, usual.queue);
  add_unless(json, "domain", job.domain, usual.domain);
  add_unless(json, "gpu_types", job.gpu_types, usual.gpu_types);
  add_unless(json, "speed", job.speed, usual.speed);
  add_more(json, job.more, "job " + job.id);
  json["tasks"] = Json::array();
  for (const TaskSpec& task : job.tasks) json["tasks"].push_back(task_json(task));
  text_ += line(json) + "\n";
  return *this;
}

}  // namespace berth
