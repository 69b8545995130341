// SPDX-License-Identifier: Apache-2.0
#include "job_tables.hpp"

#include "words.hpp"

#include <algorithm>
#include <bit>

#include "berth/base/error.hpp"

namespace berth::io {

using model::Factors;
using model::Job;
using model::Shape;

namespace {

template <class Places, class Index>
void index_names(const Places& places, Index& index) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    index.emplace(places[i].name, typename Index::mapped_type(i));
  }
}

template <class Places>
std::string similar(std::string_view name, const Places& places) {
  std::vector<std::string_view> names;
  for (const auto& place : places) names.push_back(place.name);
  return names.size() > 12 ? did_you_mean(name, names) : known_words(name, names);
}

}  // namespace

std::size_t JobTables::ShapeHash::operator()(const Shape& shape) const {
  WordHash hash;
  hash.add(static_cast<std::uint64_t>(shape.cpu_milli));
  hash.add(static_cast<std::uint64_t>(shape.memory_mib));
  hash.add(static_cast<std::uint64_t>(shape.gpus) << 32 |
           static_cast<std::uint64_t>(shape.gpu_milli));
  hash.add(static_cast<std::uint64_t>(shape.nic_mbps));
  return hash.value();
}

std::size_t JobTables::FactorsHash::operator()(const Factors& factors) const {
  WordHash hash;
  for (const double factor : factors) hash.add(std::bit_cast<std::uint64_t>(factor));
  return hash.value();
}

std::size_t JobTables::SpeedHash::operator()(const SpeedRow& row) const {
  WordHash hash;
  for (const auto& [type, speed] : row) {
    hash.add(type);
    hash.add(std::bit_cast<std::uint64_t>(speed));
  }
  return hash.value();
}

JobTables::JobTables(model::Cluster& cluster, const std::string& file)
    : cluster_(&cluster), file_(&file), running_(cluster, file) {
  index_names(cluster.racks, racks_);
  index_names(cluster.pods, pods_);
  factors_.intern(workload_.factors.front(), [](const Factors&) {});
  speeds_.intern({}, [&](const SpeedRow& row) { speed_rows_.push_back(row); });
}

void JobTables::fail(const char* field, const std::string& problem, const std::string& hint) const {
  throw InputError({.file = *file_, .line = line_, .field = field}, problem, hint);
}

void JobTables::reserve(std::size_t jobs, std::size_t name_characters) {
  workload_.job_names.reserve(jobs, name_characters);
  workload_.jobs.reserve(jobs);
  workload_.groups.reserve(jobs);
  lines_.reserve(jobs);
}

void JobTables::add_groups(const JobLine& line, Job& job) {
  job.first_group = static_cast<std::uint32_t>(workload_.groups.size());
  job.groups = static_cast<std::uint32_t>(line.tasks.size());
  for (const JobLine::Task& task : line.tasks) {
    const std::uint32_t shape =
        shapes_.intern(task.shape, [&](const Shape& fresh) { workload_.shapes.push_back(fresh); });
    const std::uint32_t label =
        labels_.intern(std::string(task.label),
                       [&](const std::string& fresh) { workload_.labels.push_back(fresh); });
    workload_.groups.push_back(
        {.shape = ShapeId(std::size_t{shape}), .count = task.count, .label = label});
  }
}

void JobTables::look_up(const JobLine& line, Job& job) const {
  if (!line.home_rack.empty()) {
    const auto found = racks_.find(line.home_rack);
    if (found == racks_.end()) {
      fail("home.rack", "unknown rack " + in_quotes(line.home_rack),
           similar(line.home_rack, cluster_->racks));
    }
    job.home_rack = found->second;
  }
  if (!line.home_pod.empty()) {
    const auto found = pods_.find(line.home_pod);
    if (found == pods_.end()) {
      fail("home.pod", "unknown pod " + in_quotes(line.home_pod),
           similar(line.home_pod, cluster_->pods));
    }
    job.home_pod = found->second;
  }
  if (!line.queue.empty()) {
    const auto found = std::ranges::find(cluster_->queues, line.queue, &model::Queue::name);
    if (found == cluster_->queues.end()) {
      fail("queue", "unknown queue " + in_quotes(line.queue),
           cluster_->queues.empty() ? "the cluster has no queues"
                                    : similar(line.queue, cluster_->queues));
    }
    job.queue = QueueId(static_cast<std::size_t>(found - cluster_->queues.begin()));
  }
}

std::uint32_t JobTables::gpu_type(std::string_view name, const char* field) {
  auto& types = cluster_->gpu_types;
  const auto found = std::ranges::find(types, name);
  if (found == types.end()) {
    if (types.size() == model::kMaxGpuTypes) {
      fail(field, "more than 64 GPU types in cluster and jobs together", did_you_mean(name, types));
    }
    types.emplace_back(name);
    return static_cast<std::uint32_t>(types.size() - 1);
  }
  return static_cast<std::uint32_t>(found - types.begin());
}

std::uint64_t JobTables::gpu_types(const JobLine& line) {
  if (line.gpu_types.empty()) return ~std::uint64_t{0};
  std::uint64_t mask = 0;
  for (const std::string_view name : line.gpu_types)
    mask |= std::uint64_t{1} << gpu_type(name, "gpu_types");
  return mask;
}

/// Speeds of 1 are the default and not kept, so that spelling them out makes no difference.
std::uint32_t JobTables::speed_row(const JobLine& line) {
  SpeedRow row;
  for (const auto& [name, speed] : line.speeds) {
    if (speed != 1.0) row.emplace_back(gpu_type(name, "speed"), speed);
  }
  if (row.empty()) return 0;
  std::ranges::sort(row);
  return speeds_.intern(row, [&](const SpeedRow& fresh) { speed_rows_.push_back(fresh); });
}

std::uint32_t JobTables::factor_row(const Factors& factors) {
  return factors_.intern(factors,
                         [&](const Factors& fresh) { workload_.factors.push_back(fresh); });
}

void JobTables::add(const JobLine& line, std::int64_t at) {
  line_ = at;
  Job job;
  job.arrival = line.arrival;
  job.priority = line.priority;
  job.weight = line.weight;
  job.value = line.value;
  job.required = line.required;
  job.domain = line.domain;
  look_up(line, job);
  add_groups(line, job);
  job.gpu_types = gpu_types(line);
  job.speed = speed_row(line);
  job.home_factor = factor_row(line.home_factor);
  job.spread_factor = factor_row(line.spread_factor);
  job.communication = communication(line, job);
  workload_.job_names.add(line.id);
  workload_.jobs.push_back(job);
  lines_.push_back(static_cast<std::uint32_t>(at));
  running_.add(line, at, workload_);
}

model::Communication JobTables::communication(const JobLine& line, const Job& job) const {
  if (line.pattern == model::Pattern::none || line.mbps == 0) return {};
  model::Communication c{.pattern = line.pattern, .servers = 0, .mbps = line.mbps};
  if (line.pattern == model::Pattern::ring) return c;
  const auto groups = workload_.groups_of(job);
  const auto servers = std::ranges::find_if(
      groups, [&](const model::TaskGroup& g) { return workload_.labels[g.label] == line.servers; });
  if (servers == groups.end() || groups.size() < 2) {
    fail("communication.servers",
         servers == groups.end() ? "the job has no task group " + in_quotes(line.servers)
                                 : "the job has servers and no workers",
         "name one of several task groups by its \"shape\"");
  }
  c.servers = static_cast<std::uint32_t>(servers - groups.begin());
  return c;
}

void JobTables::fill_speeds() {
  const std::size_t types = cluster_->gpu_types.size();
  workload_.speed_types = static_cast<std::uint32_t>(types);
  workload_.speeds.assign(speed_rows_.size() * types, 1.0);
  for (std::size_t row = 0; row < speed_rows_.size(); ++row) {
    for (const auto& [type, speed] : speed_rows_[row]) {
      workload_.speeds[row * types + type] = speed;
    }
  }
}

void JobTables::refuse_repeated_ids() const {
  std::unordered_map<std::string_view, std::size_t> first;
  first.reserve(workload_.jobs.size());
  for (std::size_t j = 0; j < workload_.jobs.size(); ++j) {
    const std::string_view name = workload_.job_names[j];
    const auto [entry, fresh] = first.try_emplace(name, j);
    if (fresh) continue;
    throw InputError({.file = *file_, .line = lines_[j], .field = "id"},
                     "job " + in_quotes(name) + " is given twice",
                     "first on line " + std::to_string(lines_[entry->second]));
  }
}

model::Workload JobTables::finish() {
  refuse_repeated_ids();
  fill_speeds();
  running_.finish(workload_);
  return std::move(workload_);
}

}  // namespace berth::io
