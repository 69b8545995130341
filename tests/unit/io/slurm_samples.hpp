// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "berth/io/slurm.hpp"

/// Small answers of a Slurm that does not exist, in both generations of its JSON.
namespace berth::io {

/// `plain`: data parser v0.0.38 and before; `wrapped`: v0.0.39 and later.
enum class Json { plain, wrapped };

inline std::string in_json(const std::string& text) { return "\"" + text + "\""; }

class Samples {
 public:
  using Fields = std::map<std::string, std::string>;  ///< key, JSON text

  explicit Samples(Json json) : json_(json) {}

  [[nodiscard]] std::string number(std::int64_t value) const {
    if (json_ == Json::plain) return std::to_string(value);
    return R"({"set":true,"infinite":false,"number":)" + std::to_string(value) + "}";
  }
  [[nodiscard]] std::string unlimited() const {
    return json_ == Json::plain ? "null" : R"({"set":false,"infinite":true,"number":0})";
  }
  /// Words that old versions put into one text and new ones into a list.
  [[nodiscard]] std::string words(const std::vector<std::string>& all) const {
    std::string text;
    for (const std::string& word : all) {
      if (!text.empty()) text += ",";
      text += json_ == Json::plain ? word : in_json(word);
    }
    return json_ == Json::plain ? in_json(text) : "[" + text + "]";
  }
  static std::string list(const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& word : all) text += (text.empty() ? "" : ",") + in_json(word);
    return "[" + text + "]";
  }

  /// 32 CPUs, 64 GiB, 4 a100, in partition "gpu", idle.
  Samples& node(const std::string& name, const Fields& other = {}) {
    Fields fields{{"name", in_json(name)},
                  {"cpus", "32"},
                  {"real_memory", "65536"},
                  {"threads", "1"},
                  {"gres", in_json("gpu:a100:4(S:0-1)")},
                  {"features", words({"ib", "fast"})},
                  {"partitions", list({"gpu"})},
                  {"tres", in_json("cpu=32,mem=64G,billing=32")}};
    if (json_ == Json::plain) fields["state_flags"] = "[]";
    fields["state"] = state({"IDLE"});
    return add(nodes_, fields, other);
  }
  /// Old versions: a base state, and flags beside it.
  [[nodiscard]] std::string state(const std::vector<std::string>& words) const {
    return json_ == Json::plain ? in_json(words.front()) : list(words);
  }

  /// Pending in partition "gpu": one task, one CPU.
  Samples& job(std::int64_t id, const Fields& other = {}) {
    return add(jobs_,
               {{"job_id", std::to_string(id)},
                {"job_state", state({"PENDING"})},
                {"state_reason", in_json("None")},
                {"partition", in_json("gpu")},
                {"priority", number(1000)},
                {"submit_time", number(500 + id)},
                {"eligible_time", number(500 + id)},
                {"time_limit", number(60)},
                {"node_count", number(1)},
                {"max_nodes", number(0)},
                {"tasks", number(1)},
                {"cpus", number(1)},
                {"array_job_id", number(0)},
                {"array_task_string", in_json("")},
                {"required_nodes", in_json("")},
                {"excluded_nodes", in_json("")},
                {"features", in_json("")},
                {"gres_detail", "[]"}},
               other);
  }

  /// Whole machines or parts of them that job `id` has now.
  Samples& running(std::int64_t id, const std::string& nodes, std::int64_t cpus_each,
                   std::int64_t memory_each, const Fields& other = {}) {
    Fields fields{{"job_state", state({"RUNNING"})},
                  {"nodes", in_json(nodes)},
                  {"job_resources", resources(nodes, cpus_each, memory_each)},
                  {"tres_alloc_str", in_json("cpu=" + std::to_string(cpus_each) +
                                             ",mem=" + std::to_string(memory_each) + "M")}};
    for (const auto& [key, text] : other) fields[key] = text;
    return job(id, fields);
  }

  [[nodiscard]] SlurmSources sources() const {
    const auto text = [](const char* key, const std::vector<std::string>& all) {
      std::string joined;
      for (const std::string& one : all) joined += (joined.empty() ? "" : ",\n") + one;
      return std::string("{\"meta\":{},\"errors\":[],\"") + key + "\":[" + joined + "]}";
    };
    SlurmSources all;
    all.nodes = {.name = "nodes.json", .text = text("nodes", nodes_)};
    all.jobs = {.name = "jobs.json", .text = text("jobs", jobs_)};
    return all;
  }

 private:
  /// Single names only.
  [[nodiscard]] std::string resources(const std::string& nodes, std::int64_t cpus,
                                      std::int64_t memory) const {
    std::string all;
    for (std::size_t begin = 0; begin < nodes.size();) {
      const std::size_t end = std::min(nodes.find(',', begin), nodes.size());
      const std::string name = nodes.substr(begin, end - begin);
      if (!all.empty()) all += ",";
      all += json_ == Json::plain ? old_node(name, cpus, memory) : new_node(name, cpus, memory);
      begin = end + 1;
    }
    if (json_ == Json::plain) return R"({"nodes":"x","allocated_nodes":[)" + all + "]}";
    return R"({"nodes":{"count":1,"list":"x","allocation":[)" + all + "]}}";
  }
  static std::string old_node(const std::string& name, std::int64_t cpus, std::int64_t memory) {
    std::string cores;
    for (std::int64_t core = 0; core < cpus; ++core) {
      if (core > 0) cores += ",";
      cores += in_json(std::to_string(core)) + ":" + in_json("allocated");
    }
    return "{\"nodename\":" + in_json(name) + R"(,"sockets":{"0":{"cores":{)" + cores +
           "}}},\"memory_allocated\":" + std::to_string(memory) + "}";
  }
  static std::string new_node(const std::string& name, std::int64_t cpus, std::int64_t memory) {
    return "{\"name\":" + in_json(name) + R"(,"cpus":{"count":)" + std::to_string(cpus) +
           R"(,"used":0},"memory":{"used":0,"allocated":)" + std::to_string(memory) +
           R"(},"sockets":[]})";
  }

  Samples& add(std::vector<std::string>& all, Fields fields, const Fields& other) {
    for (const auto& [key, text] : other) fields[key] = text;
    std::string json;
    for (const auto& [key, text] : fields)
      json += (json.empty() ? "{" : ",") + in_json(key) + ":" + text;
    all.push_back(json + "}");
    return *this;
  }

  Json json_;
  std::vector<std::string> nodes_;
  std::vector<std::string> jobs_;
};

}  // namespace berth::io
