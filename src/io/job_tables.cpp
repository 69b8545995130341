// SPDX-License-Identifier: Apache-2.0
#include "job_tables.hpp"

#include "job_rules.hpp"
#include "running_tables.hpp"
#include "words.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/base/error.hpp"

namespace berth::io {

using model::Factors;
using model::Job;
using model::Shape;

namespace {

template <class Places>
std::string similar(std::string_view name, const Places& places) {
  std::vector<std::string_view> names;
  for (const auto& place : places) names.push_back(place.name);
  return names.size() > 12 ? did_you_mean(name, names) : known_words(name, names);
}

}  // namespace

std::size_t ShapeHash::operator()(const Shape& shape) const {
  WordHash hash;
  for (const std::int64_t amount : shape.needs) hash.add(static_cast<std::uint64_t>(amount));
  hash.add(static_cast<std::uint64_t>(shape.gpus) << 32 |
           static_cast<std::uint64_t>(shape.gpu_milli));
  return hash.value();
}

std::size_t FactorsHash::operator()(const Factors& factors) const {
  WordHash hash;
  for (const double factor : factors) hash.add(std::bit_cast<std::uint64_t>(factor));
  return hash.value();
}

std::size_t RulesHash::operator()(const model::PlacementRules& rules) const {
  WordHash hash;
  for (const model::DomainCounts& counts : {rules.max_tasks, rules.min_domains}) {
    for (const std::int32_t count : counts) hash.add(static_cast<std::uint64_t>(count));
  }
  hash.add(rules.exclusive ? 1 : 0);
  for (const std::vector<std::string>& names : {rules.labels, rules.not_with}) {
    hash.add(names.size());
    for (const std::string& name : names) hash.add(std::hash<std::string>()(name));
  }
  for (const model::LicenseUse& use : rules.licenses) {
    hash.add(use.license);
    hash.add(static_cast<std::uint64_t>(use.count));
  }
  return hash.value();
}

std::size_t TimeRulesHash::operator()(const model::TimeRules& rules) const {
  WordHash hash;
  for (const std::int64_t seconds : {rules.duration, rules.limit, rules.not_before, rules.deadline,
                                     rules.checkpoint_every, rules.restart_cost}) {
    hash.add(static_cast<std::uint64_t>(seconds));
  }
  hash.add(std::uint64_t{rules.utility} << 32 | rules.configurations);
  hash.add(rules.preemptible ? 1 : 0);
  return hash.value();
}

std::size_t UtilityHash::operator()(const model::Utility& utility) const {
  WordHash hash;
  hash.add(utility.steps ? 1 : 0);
  for (const model::UtilityPoint& point : utility.points) {
    hash.add(static_cast<std::uint64_t>(point.seconds));
    hash.add(std::bit_cast<std::uint64_t>(point.factor));
  }
  return hash.value();
}

std::size_t ConfigurationsHash::operator()(
    const std::vector<model::Configuration>& configurations) const {
  WordHash hash;
  for (const model::Configuration& c : configurations) {
    for (const std::int32_t count : c.counts) hash.add(static_cast<std::uint64_t>(count));
    hash.add(std::bit_cast<std::uint64_t>(c.speed));
    hash.add(std::bit_cast<std::uint64_t>(c.value));
  }
  return hash.value();
}

std::size_t SpeedHash::operator()(const SpeedRow& row) const {
  WordHash hash;
  for (const auto& [type, speed] : row) {
    hash.add(type);
    hash.add(std::bit_cast<std::uint64_t>(speed));
  }
  return hash.value();
}

JobTables::JobTables(const ClusterNames& cluster_names) : cluster_names_(&cluster_names) {
  factors_.intern(block_.tables.shared.factors.front(), [](const Factors&) {});
  rules_.intern(block_.tables.shared.rules.front(), [](const model::PlacementRules&) {});
  time_rules_.intern(block_.tables.shared.time_rules.front(), [](const model::TimeRules&) {});
  utilities_.intern(block_.tables.shared.utilities.front(), [](const model::Utility&) {});
  configurations_.intern(block_.tables.shared.configurations.front(), [](const auto&) {});
  speeds_.intern({}, [](const SpeedRow&) {});
}

void JobTables::fail(const char* field, const std::string& problem, const std::string& hint) const {
  throw InputError({.file = {}, .line = line_, .field = field}, problem, hint);
}

void JobTables::add_groups(const JobLine& line, Job& job) {
  job.first_group = static_cast<std::uint32_t>(block_.records.groups.size());
  job.groups = static_cast<std::uint32_t>(line.tasks.size());
  for (const JobLine::TaskLine& task : line.tasks) {
    const std::uint32_t shape = shapes_.intern(
        task.shape, [&](const Shape& fresh) { block_.tables.shared.shapes.push_back(fresh); });
    const std::uint32_t label = labels_.intern(
        std::string(task.label),
        [&](const std::string& fresh) { block_.tables.shared.labels.push_back(fresh); });
    block_.records.groups.push_back({.shape = ShapeId(std::size_t{shape}),
                                     .count = task.count,
                                     .label = label,
                                     .k_of = task.k_of});
  }
}

void JobTables::look_up(const JobLine& line, Job& job) const {
  const model::Cluster& cluster = cluster_names_->cluster();
  if (!line.home_rack.empty()) {
    job.home_rack = cluster_names_->rack(line.home_rack);
    if (!job.home_rack.valid()) {
      fail("home.rack", "unknown rack " + in_quotes(line.home_rack),
           similar(line.home_rack, cluster.racks));
    }
  }
  if (!line.home_pod.empty()) {
    job.home_pod = cluster_names_->pod(line.home_pod);
    if (!job.home_pod.valid()) {
      fail("home.pod", "unknown pod " + in_quotes(line.home_pod),
           similar(line.home_pod, cluster.pods));
    }
  }
  if (!line.queue.empty()) {
    job.queue = cluster_names_->queue(line.queue);
    if (!job.queue.valid()) {
      fail("queue", "unknown queue " + in_quotes(line.queue),
           cluster.queues.empty() ? "the cluster has no queues"
                                  : similar(line.queue, cluster.queues));
    }
  }
}

std::uint32_t JobTables::gpu_type(std::string_view name, const char* field) {
  const auto& known = cluster_names_->gpu_types();
  const auto in_cluster = std::ranges::find(known, name);
  if (in_cluster != known.end()) return static_cast<std::uint32_t>(in_cluster - known.begin());
  auto& fresh = block_.tables.gpu_types;
  const auto found = std::ranges::find(fresh, name, &BlockTables::NewType::name);
  const auto type = known.size() + static_cast<std::size_t>(found - fresh.begin());
  if (found == fresh.end()) {
    fresh.push_back({.name = std::string(name), .line = line_, .field = field});
    if (type == model::kMaxGpuTypes) throw TooManyTypes();
  }
  return static_cast<std::uint32_t>(type);
}

/// By name, so that the order in which a line lists types does not decide the numbers of unknown
/// ones.
std::uint64_t JobTables::gpu_types(const JobLine& line) {
  if (line.gpu_types.empty()) return ~std::uint64_t{0};
  std::vector<std::string_view> by_name(line.gpu_types.begin(), line.gpu_types.end());
  std::ranges::sort(by_name);
  std::uint64_t mask = 0;
  for (const std::string_view name : by_name)
    mask |= std::uint64_t{1} << gpu_type(name, "gpu_types");
  return mask;
}

/// Leaves out speeds of 1, the default, so that spelling them out changes nothing.
std::uint32_t JobTables::speed_row(const JobLine& line) {
  std::vector<std::pair<std::string_view, double>> by_name(line.speeds.begin(), line.speeds.end());
  std::ranges::sort(by_name);
  SpeedRow row;
  for (const auto& [name, speed] : by_name) {
    if (speed != 1.0) row.emplace_back(gpu_type(name, "speed"), speed);
  }
  if (row.empty()) return 0;
  std::ranges::sort(row);
  return speeds_.intern(row, [&](const SpeedRow& fresh) { block_.tables.speeds.push_back(fresh); });
}

std::uint32_t JobTables::factor_row(const Factors& factors) {
  return factors_.intern(
      factors, [&](const Factors& fresh) { block_.tables.shared.factors.push_back(fresh); });
}

std::vector<model::LicenseUse> JobTables::licenses(const JobLine& line) const {
  const auto& known = cluster_names_->cluster().licenses;
  std::vector<model::LicenseUse> uses;
  for (const auto& [name, count] : line.rules.licenses) {
    const auto found = std::ranges::find(known, name, &model::License::name);
    if (found == known.end()) {
      fail("licenses", "unknown license " + in_quotes(name),
           known.empty() ? "the cluster has no licenses" : similar(name, known));
    }
    uses.push_back({.license = static_cast<std::uint32_t>(found - known.begin()), .count = count});
  }
  std::ranges::sort(uses, {}, &model::LicenseUse::license);
  return uses;
}

std::uint32_t JobTables::rules_row(const JobLine& line) {
  model::PlacementRules rules = rules_of(line);
  rules.licenses = licenses(line);
  return rules_.intern(rules, [&](const model::PlacementRules& fresh) {
    block_.tables.shared.rules.push_back(fresh);
  });
}

std::uint32_t JobTables::time_row(const JobLine& line) {
  const JobLine::TimeLine& time = line.time;
  const bool none = time.rules == model::TimeRules{} && time.utility.points.empty() &&
                    time.configurations.empty();
  if (none) return 0;
  model::WorkloadTables& shared = block_.tables.shared;
  model::TimeRules row = line.time.rules;
  row.utility = utilities_.intern(
      line.time.utility, [&](const model::Utility& fresh) { shared.utilities.push_back(fresh); });
  row.configurations = configurations_.intern(
      line.time.configurations, [&](const auto& fresh) { shared.configurations.push_back(fresh); });
  return time_rules_.intern(
      row, [&](const model::TimeRules& fresh) { shared.time_rules.push_back(fresh); });
}

void JobTables::fail(const InputError& error) {
  block_.tables.fault = {.line = static_cast<std::uint32_t>(error.where().line),
                         .field = error.where().field,
                         .problem = error.problem(),
                         .hint = error.hint()};
}

bool JobTables::add(const JobLine& line, std::uint32_t at) {
  line_ = at;
  block_.tables.line_count = at;
  try {
    add_job(line);
    if (line.width_factor_key == JobLine::WidthFactorKey::spread &&
        block_.tables.first_spread == 0) {
      block_.tables.first_spread = at;
    }
    return true;
  } catch (const TooManyTypes&) {  // the merge reports the type that is too many, here or earlier
  } catch (const InputError& error) {
    fail(error);
  }
  return false;
}

void JobTables::add_job(const JobLine& line) {
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
  job.width_factor = factor_row(line.width_factor);
  job.rules = rules_row(line);
  job.time = time_row(line);
  for (const std::string_view name : line.time.after) {
    block_.tables.dependencies.push_back(
        {.job = JobId(block_.records.jobs.size()), .after = std::string(name)});
  }
  job.communication = communication(line, job);
  model::WorkloadTables& shared = block_.tables.shared;
  shared.job_names.add(line.id);
  if (!line.name.empty() || !line.user.empty()) {
    shared.titles.job.emplace_back(block_.records.jobs.size());
    shared.titles.name.add(line.name);
    shared.titles.user.add(line.user);
  }
  block_.records.jobs.push_back(job);
  block_.tables.lines.push_back(line_);
  if (!line.running.empty()) add_running(line, line_, *cluster_names_, block_);
}

model::Communication JobTables::communication(const JobLine& line, const Job& job) const {
  if (line.pattern == model::CommunicationPattern::none || line.mbps == 0) return {};
  model::Communication c{.pattern = line.pattern, .servers = 0, .mbps = line.mbps};
  if (line.pattern == model::CommunicationPattern::ring) return c;
  const auto groups = block_.records.groups_of(job);
  const auto servers = std::ranges::find_if(groups, [&](const model::TaskGroup& g) {
    return block_.tables.shared.labels[g.label] == line.servers;
  });
  if (servers == groups.end() || groups.size() < 2) {
    fail("communication.servers",
         servers == groups.end() ? "the job has no task group " + in_quotes(line.servers)
                                 : "the job has servers and no workers",
         "name one of several task groups by its \"shape\"");
  }
  c.servers = static_cast<std::uint32_t>(servers - groups.begin());
  return c;
}

}  // namespace berth::io
