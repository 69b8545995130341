// SPDX-License-Identifier: Apache-2.0
#include "job_rules.hpp"

#include "words.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include <fmt/format.h>

namespace berth::io {
namespace {

using model::DomainCounts;
using model::PlacementRules;

constexpr std::size_t kMaxTasks = 0, kMinDomains = 1, kExclusive = 2, kLabels = 3, kNotWith = 4,
                      kLicenses = 5;
constexpr auto kDomainNames = std::span(kLevelNames).first<std::tuple_size_v<DomainCounts>>();

void read_counts(const JsonAt& at, DomainCounts& counts) {
  at.fields(kDomainNames, [&](std::size_t level, const JsonAt& value) {
    counts[level] = static_cast<std::int32_t>(value.integer(1, kMaxCount));
  });
}

void read_names(const JsonAt& at, std::vector<std::string_view>& names) {
  at.each([&](const JsonAt& name) { names.push_back(name.name()); });
}

void read_licenses(const JsonAt& at, JobLine& line) {
  at.entries([&](const JsonAt& license) {
    if (const std::string fault = name_fault(license.key()); !fault.empty()) at.fail(fault);
    for (const auto& other : line.rules.licenses) {
      if (other.first == license.key()) license.fail("given twice");
    }
    line.rules.licenses.emplace_back(license.key(), license.integer(1, kMaxCount));
  });
}

void read_exclusive(const JsonAt& at, JobLine& line) {
  constexpr std::array<std::string_view, 1> kWords{"machine"};
  const std::string_view word = at.text();
  if (word != kWords.front())
    at.fail("unknown level " + in_quotes(word), known_words(word, kWords));
  line.rules.exclusive = true;
}

std::int64_t tasks_of(const JobLine& line) {
  std::int64_t tasks = 0;
  for (const JobLine::TaskLine& task : line.tasks) tasks += task.count;
  return tasks;
}

/// Refuses numbers of tasks and domains that no placement of the job has.
void check_counts(const RuleValues& values, const JobLine& line) {
  const std::int64_t tasks = tasks_of(line);
  const auto domain = static_cast<std::size_t>(line.domain);
  const std::string in_one = fmt::format("the job's \"domain\" is {}", kLevelNames[domain]);
  for (std::size_t l = 0; l < kDomainNames.size(); ++l) {
    const std::int32_t least = line.rules.min_domains[l], most = line.rules.max_tasks[l];
    if (least > tasks) {
      values[kMinDomains]->fail(
          fmt::format("{} {}s, but the job has {} tasks", least, kDomainNames[l], tasks),
          "a job has tasks in at most as many domains as it has tasks");
    }
    if (least > 1 && l >= domain) {
      values[kMinDomains]->fail(fmt::format("{} {}s, but {}", least, kDomainNames[l], in_one),
                                "leave out one of them");
    }
    if (most < tasks && l >= domain) {
      values[kMaxTasks]->fail(fmt::format("{} tasks in a {}, but {} and it has {} tasks", most,
                                          kDomainNames[l], in_one, tasks),
                              "leave out one of them");
    }
  }
}

void check_labels(const RuleValues& values, const JobLine& line) {
  for (const std::string_view label : line.rules.not_with) {
    if (std::ranges::find(line.rules.labels, label) == line.rules.labels.end()) continue;
    values[kNotWith]->fail("the job itself has the label " + in_quotes(label),
                           "a job shares its machines with itself");
  }
}

std::vector<std::string> distinct(const std::vector<std::string_view>& names) {
  std::vector<std::string> sorted(names.begin(), names.end());
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

void add_counts(JsonText& json, std::string_view key, const DomainCounts& counts,
                std::int32_t left_out) {
  if (std::ranges::all_of(counts, [&](std::int32_t n) { return n == left_out; })) return;
  json.key(key).open('{');
  for (std::size_t l = 0; l < counts.size(); ++l) {
    if (counts[l] != left_out) json.field(kDomainNames[l], std::int64_t{counts[l]});
  }
  json.close('}');
}

void add_names(JsonText& json, std::string_view key, const std::vector<std::string>& names) {
  if (names.empty()) return;
  json.key(key).open('[');
  for (const std::string& name : names) json.text(name);
  json.close(']');
}

std::int32_t domain_of(const model::Cluster& cluster, MachineId machine, std::size_t level) {
  if (level == 0) return machine.value();
  return level == 1 ? cluster.machine_rack[machine.index()].value()
                    : cluster.pod_of(machine).value();
}

}  // namespace

void read_rules(const RuleValues& values, JobLine& line) {
  if (values[kMaxTasks]) read_counts(*values[kMaxTasks], line.rules.max_tasks);
  if (values[kMinDomains]) read_counts(*values[kMinDomains], line.rules.min_domains);
  if (values[kExclusive]) read_exclusive(*values[kExclusive], line);
  if (values[kLabels]) read_names(*values[kLabels], line.rules.labels);
  if (values[kNotWith]) read_names(*values[kNotWith], line.rules.not_with);
  if (values[kLicenses]) read_licenses(*values[kLicenses], line);
  check_counts(values, line);
  check_labels(values, line);
}

PlacementRules rules_of(const JobLine& line) {
  return {.max_tasks = line.rules.max_tasks,
          .min_domains = line.rules.min_domains,
          .exclusive = line.rules.exclusive,
          .labels = distinct(line.rules.labels),
          .not_with = distinct(line.rules.not_with),
          .licenses = {}};
}

void add_rules(JsonText& json, const model::Cluster& cluster, const PlacementRules& rules) {
  add_counts(json, kRuleKeys[kMaxTasks], rules.max_tasks, PlacementRules::kAnyNumber);
  add_counts(json, kRuleKeys[kMinDomains], rules.min_domains, 1);
  if (rules.exclusive) json.field(kRuleKeys[kExclusive], kLevelNames[0]);
  add_names(json, kRuleKeys[kLabels], rules.labels);
  add_names(json, kRuleKeys[kNotWith], rules.not_with);
  if (rules.licenses.empty()) return;
  json.key(kRuleKeys[kLicenses]).open('{');
  for (const model::LicenseUse& use : rules.licenses) {
    json.field(cluster.licenses[use.license].name, use.count);
  }
  json.close('}');
}

BrokenRule broken_rule(const model::Cluster& cluster, const PlacementRules& rules,
                       std::span<const model::TaskPlacement> tasks) {
  for (std::size_t l = 0; l < kDomainNames.size(); ++l) {
    std::map<std::int32_t, std::int64_t> placed;
    for (const model::TaskPlacement& t : tasks) ++placed[domain_of(cluster, t.machine, l)];
    for (const auto& [domain, count] : placed) {
      if (count <= rules.max_tasks[l]) continue;
      return {kRuleKeys[kMaxTasks], fmt::format("has {} tasks in one {}", count, kDomainNames[l])};
    }
    if (std::ssize(placed) < rules.min_domains[l]) {
      return {kRuleKeys[kMinDomains], fmt::format("has tasks in {} {}{}", placed.size(),
                                                  kDomainNames[l], placed.size() > 1 ? "s" : "")};
    }
  }
  return {};
}

}  // namespace berth::io
