// SPDX-License-Identifier: Apache-2.0
// Writes what job_time.cpp reads.
#include "job_time.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "berth/io/jobs_file.hpp"

namespace berth::io {

using model::Configuration;
using model::kNotGiven;
using model::Utility;

namespace {

void add_utility(JsonText& json, const Utility& utility) {
  if (utility.points.empty()) return;
  json.key(kTimeKeys[kUtility]).open('{').key(kUtilityForms[utility.steps ? 1 : 0]).open('[');
  for (const model::UtilityPoint& point : utility.points) {
    json.open('[').integer(point.seconds).real(point.factor).close(']');
  }
  json.close(']').close('}');
}

void add_configurations(JsonText& json, const model::Workload& workload, const model::Job& job) {
  const auto& configurations = workload.configurations[workload.time_of(job).configurations];
  if (configurations.empty()) return;
  const auto groups = workload.groups_of(job);
  json.key(kTimeKeys[kConfigurations]).open('[');
  for (const Configuration& c : configurations) {
    json.open('{').key("counts").open('{');
    for (std::size_t g = 0; g < groups.size(); ++g) {
      json.field(workload.labels[groups[g].label], std::int64_t{c.counts[g]});
    }
    json.close('}');
    if (c.speed != 1.0) json.field("speed", c.speed);
    if (c.value != Configuration::kOwnValue) json.field("value", c.value);
    json.close('}');
  }
  json.close(']');
}

}  // namespace

void add_time(JsonText& json, const model::Workload& workload, JobId id) {
  const model::Job& job = workload.job(id);
  const model::TimeRules& rules = workload.time_of(job);
  const model::TimeRules none;
  const auto add = [&](std::size_t key, std::int64_t value, std::int64_t left_out) {
    if (value != left_out) json.field(kTimeKeys[key], value);
  };
  add(kDuration, rules.duration, none.duration);
  add(kLimit, rules.limit, none.limit);
  add(kNotBefore, rules.not_before, none.not_before);
  add(kDeadline, rules.deadline, none.deadline);
  if (const auto before = workload.dependencies_of(id); !before.empty()) {
    json.key(kTimeKeys[kAfter]).open('[');
    for (const model::Dependency& d : before) json.text(workload.job_names[d.after.index()]);
    json.close(']');
  }
  add_utility(json, workload.utilities[rules.utility]);
  add_configurations(json, workload, job);
  if (rules.preemptible) json.key(kTimeKeys[kPreemptible]).boolean(true);
  add(kCheckpointEvery, rules.checkpoint_every, none.checkpoint_every);
  add(kRestartCost, rules.restart_cost, none.restart_cost);
}

std::string keys_of_time(const model::Cluster& cluster, const model::WorkloadTables& tables) {
  std::vector<std::string_view> keys;
  const model::TimeRules none;
  const auto add = [&](std::string_view key, const auto& rows, const auto& has) {
    if (std::ranges::any_of(rows, has)) keys.push_back(key);
  };
  const auto add_if_differs = [&](std::size_t key, auto member) {
    add(kTimeKeys[key], tables.time_rules,
        [&](const model::TimeRules& row) { return row.*member != none.*member; });
  };
  add_if_differs(kDuration, &model::TimeRules::duration);
  add_if_differs(kLimit, &model::TimeRules::limit);
  add_if_differs(kNotBefore, &model::TimeRules::not_before);
  add_if_differs(kDeadline, &model::TimeRules::deadline);
  if (!tables.dependencies.empty()) keys.push_back(kTimeKeys[kAfter]);
  add_if_differs(kUtility, &model::TimeRules::utility);
  add_if_differs(kConfigurations, &model::TimeRules::configurations);
  add_if_differs(kPreemptible, &model::TimeRules::preemptible);
  add_if_differs(kCheckpointEvery, &model::TimeRules::checkpoint_every);
  add_if_differs(kRestartCost, &model::TimeRules::restart_cost);
  add("running.since", tables.running,
      [](const model::Running& r) { return r.since != kNotGiven; });
  add("running.remaining", tables.running,
      [](const model::Running& r) { return r.remaining != kNotGiven; });
  if (!cluster.windows.empty()) keys.emplace_back("windows");
  if (!cluster.drain_deadlines.empty()) keys.emplace_back("machine_states.deadline");
  add("queues.gpu_hours", cluster.queues,
      [](const model::Queue& queue) { return queue.gpu_hours >= 0; });
  return fmt::format("{}", fmt::join(keys, ", "));
}

}  // namespace berth::io
