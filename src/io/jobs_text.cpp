// SPDX-License-Identifier: Apache-2.0
#include "job_line.hpp"
#include "job_rules.hpp"
#include "job_running.hpp"
#include "job_time.hpp"
#include "json_text.hpp"

#include <cmath>
#include <string>

#include "berth/io/file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/model/level_names.hpp"

namespace berth::io {
namespace {

using model::Factors;
using model::Instance;
using model::Job;
using model::Level;

/// bytes per piece: bounds the memory of the text; chosen, not tuned
constexpr std::size_t kChunk = std::size_t{1} << 20;

void add_tasks(JsonText& json, const model::Workload& workload, const Job& job) {
  json.key("tasks").open('[');
  for (const model::TaskGroup& group : workload.groups_of(job)) {
    const model::Shape& shape = workload.shape(group.shape);
    const std::string& label = workload.labels[group.label];
    json.open('{');
    if (label != kDefaultLabel) json.field("shape", label);
    if (group.count != 1) json.field("count", std::int64_t{group.count});
    if (shape.gpus > 0) json.field("gpus", std::int64_t{shape.gpus});
    if (shape.gpu_milli > 0) json.field("gpu_milli", std::int64_t{shape.gpu_milli});
    for (std::size_t r = 0; r < model::kResources; ++r) {
      if (shape.needs[r] > 0) json.field(model::kResourceTable[r].key, shape.needs[r]);
    }
    if (group.k_of > 0) json.field("k_of", std::int64_t{group.k_of});
    json.close('}');
  }
  json.close(']');
}

void add_types(JsonText& json, const Instance& instance, const Job& job) {
  const auto& names = instance.cluster.gpu_types;
  if (job.gpu_types != ~std::uint64_t{0}) {
    json.key("gpu_types").open('[');
    for (std::size_t t = 0; t < names.size(); ++t) {
      if ((job.gpu_types >> t & 1) != 0) json.text(names[t]);
    }
    json.close(']');
  }
  if (job.speed == 0) return;
  json.key("speed").open('{');
  for (std::size_t t = 0; t < names.size(); ++t) {
    const double speed = instance.workload.speed(job, GpuTypeId(t));
    if (speed != 1.0) json.field(names[t], speed);
  }
  json.close('}');
}

void add_factors(JsonText& json, std::string_view key, const Factors& factors, Level narrowest) {
  json.key(key).open('{');
  for (auto level = static_cast<std::size_t>(narrowest); level < factors.size(); ++level) {
    json.field(kLevelNames[level], factors[level]);
  }
  json.close('}');
}

void add_places(JsonText& json, const Instance& instance, const Job& job) {
  const auto& factors = instance.workload.factors;
  if (job.domain != Level::cluster) {
    json.field("domain", model::name_of(job.domain));
  }
  if (job.home_rack.valid() || job.home_pod.valid()) {
    json.key("home").open('{');
    if (job.home_rack.valid()) {
      json.field("rack", instance.cluster.racks[job.home_rack.index()].name);
    } else {
      json.field("pod", instance.cluster.pods[job.home_pod.index()].name);
    }
    if (job.home_factor != 0) add_factors(json, "factor", factors[job.home_factor], Level::rack);
    json.close('}');
  }
  if (job.width_factor != 0) {
    add_factors(json, "width_factor", factors[job.width_factor], Level::machine);
  }
}

void add_job(JsonText& json, const Instance& instance, JobId id) {
  const Job& job = instance.workload.job(id);
  json.open('{').field("id", instance.workload.job_names[id.index()]);
  const model::JobTitles& titles = instance.workload.titles;
  if (!titles.name_of(id).empty()) json.field("name", titles.name_of(id));
  if (!titles.user_of(id).empty()) json.field("user", titles.user_of(id));
  if (job.arrival != 0) json.field("arrival", job.arrival);
  if (job.queue.valid()) json.field("queue", instance.cluster.queues[job.queue.index()].name);
  if (job.priority != 0) json.field("priority", std::int64_t{job.priority});
  if (job.weight != 1.0) json.field("weight", job.weight);
  if (job.required) json.key("required").boolean(true);
  add_tasks(json, instance.workload, job);
  add_types(json, instance, job);
  add_places(json, instance, job);
  if (!std::isnan(job.value)) json.field("value", job.value);
  add_rules(json, instance.cluster, instance.workload.rules_of(job));
  add_time(json, instance.workload, id);
  add_communication(json, instance.workload, job);
  add_running(json, instance, job);
  json.close('}').end_line();
}

/// Passes the text to the sink in pieces of about a mebibyte.
template <class Sink>
void each_chunk(const Instance& instance, const Sink& sink) {
  JsonText json;
  for (std::size_t j = 0; j < instance.workload.jobs.size(); ++j) {
    add_job(json, instance, JobId(j));
    if (json.str().size() < kChunk && j + 1 < instance.workload.jobs.size()) continue;
    sink(json.str());
    json.str().clear();
  }
}

}  // namespace

std::string jobs_text(const Instance& instance) {
  std::string text;
  each_chunk(instance, [&](const std::string& chunk) { text += chunk; });
  return text;
}

void write_jobs(const std::string& path, const Instance& instance) {
  write_atomically(path, [&](AtomicFile& file) {
    each_chunk(instance, [&](const std::string& chunk) { file.write(chunk); });
  });
}

}  // namespace berth::io
