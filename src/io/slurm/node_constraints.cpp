// SPDX-License-Identifier: Apache-2.0
#include "slurm/node_constraints.hpp"

#include "slurm/features.hpp"
#include "slurm/gang.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace berth::io::slurm {
namespace {

std::string sorted_text(std::vector<std::string> words) {
  std::ranges::sort(words);
  std::string text;
  for (const std::string& word : words) text += word + ",";
  return text;
}

/// Whether every machine that takes new jobs is in the set.
bool is_everywhere(const std::vector<bool>& set, const ImportedMachines& machines) {
  for (std::size_t m = 0; m < set.size(); ++m) {
    if (!set[m] && machines.list[m].use == Use::up) return false;
  }
  return true;
}

}  // namespace

NodeConstraints::NodeConstraints(const ImportedMachines& machines,
                                 const std::vector<Partition>& partitions)
    : machines_(machines) {
  for (const Partition& p : partitions) partitions_.emplace(p.name, &p);
  for (std::size_t m = 0; m < machines.list.size(); ++m) {
    for (const std::string& name : machines.list[m].node->partitions) {
      auto& members = in_partition_[name];
      members.resize(machines.list.size(), false);
      members[m] = true;
    }
  }
}

const Partition* NodeConstraints::partition(std::string_view name) const {
  const auto found = partitions_.find(name);
  return found == partitions_.end() ? nullptr : found->second;
}

std::int32_t NodeConstraints::add(const std::string& key, std::vector<bool> machines, bool keep) {
  const bool everywhere = !keep && is_everywhere(machines, machines_);
  const auto fresh_index = everywhere ? -1 : static_cast<std::int32_t>(sets_.size());
  const auto [entry, fresh] = known_.try_emplace(key, fresh_index);
  if (fresh && !everywhere) sets_.push_back({.machines = std::move(machines), .alternatives = {}});
  return entry->second;
}

std::vector<bool> NodeConstraints::with_features(std::string_view constraint) const {
  std::map<std::vector<std::string>, bool> known;  // few distinct lists of features per cluster
  std::vector<bool> found;
  for (const ImportedMachine& m : machines_.list) {
    const auto [entry, fresh] = known.try_emplace(m.node->features, false);
    if (fresh) entry->second = satisfies(constraint, m.node->features);
    found.push_back(entry->second);
  }
  return found;
}

NodeConstraints::NodeConstraint NodeConstraints::of(const SlurmJob& job) {
  const FeatureConstraint features = read_features(job.features);
  if (!features.fault.empty()) return {.set = -1, .fault = "asks for " + features.fault};
  const bool named = !job.required.empty();
  if (named && std::ssize(job.required) < requested_nodes(job)) {
    return {.set = -1, .fault = "names some of its nodes and leaves the others open"};
  }
  const std::string key = sorted_text(job.partitions) + "|" + job.features + "|" +
                          sorted_text(job.excluded) + "|" + sorted_text(job.required);
  if (const auto entry = known_.find(key); entry != known_.end()) {
    return {.set = entry->second, .fault = {}};
  }
  std::vector<bool> set(machines_.list.size(), false);
  for (const std::string& name : job.partitions) {
    const auto members = in_partition_.find(name);
    if (members == in_partition_.end()) continue;
    for (std::size_t m = 0; m < set.size(); ++m) set[m] = set[m] || members->second[m];
  }
  const auto narrow = [&](const auto& keep) {
    for (std::size_t m = 0; m < set.size(); ++m) set[m] = set[m] && keep(m);
  };
  if (!job.features.empty()) {
    const std::vector<bool> having = with_features(job.features);
    narrow([&](std::size_t m) { return having[m]; });
  }
  const auto name_of = [&](std::size_t m) { return machines_.list[m].node->name; };
  if (!job.excluded.empty()) {
    narrow([&](std::size_t m) {
      return std::ranges::find(job.excluded, name_of(m)) == job.excluded.end();
    });
  }
  if (named) {
    narrow([&](std::size_t m) {
      return std::ranges::find(job.required, name_of(m)) != job.required.end();
    });
  }
  if (std::ranges::none_of(set, [](bool in) { return in; })) {
    return {.set = -1, .fault = "fits none of the nodes planned"};
  }
  std::vector<std::int32_t> alternatives;
  for (const std::string& word : features.same_on_all) {
    const std::int32_t one = add("feature " + word, with_features(word));
    if (one >= 0) alternatives.push_back(one);
  }
  // a set of alternatives restricts a job even if it covers all machines
  const std::int32_t constraint = add(key, std::move(set), !alternatives.empty());
  if (constraint >= 0)
    sets_[static_cast<std::size_t>(constraint)].alternatives = std::move(alternatives);
  return {.set = constraint, .fault = {}};
}

TypeNames name_types(const ImportedMachines& machines,
                     const std::vector<const std::vector<bool>*>& sets) {
  const std::size_t n = machines.list.size();
  std::vector<std::size_t> group(n, 0);
  std::map<std::string, std::size_t> types;
  for (std::size_t m = 0; m < n; ++m) {
    const ImportedMachine& machine = machines.list[m];
    if (machine.gpus > 0)
      group[m] = 1 + types.try_emplace(machine.gpu_type, types.size()).first->second;
  }
  std::size_t groups = types.size() + 1;
  TypeNames found;
  for (const std::vector<bool>* const set : sets) {
    std::map<std::pair<std::size_t, bool>, std::size_t> split;
    std::vector<std::size_t> next(n, 0);
    for (std::size_t m = 0; m < n; ++m) {
      if (machines.list[m].gpus == 0) continue;
      next[m] = 1 + split.try_emplace({group[m], (*set)[m]}, split.size()).first->second;
    }
    const bool too_many = split.size() > model::kMaxGpuTypes;
    found.dropped.push_back(too_many);
    if (too_many) continue;
    group = std::move(next);
    groups = split.size() + 1;
  }
  std::vector<std::string> name_of(groups);
  std::map<std::string, std::size_t> kinds;  // number of groups by type
  std::vector<bool> seen(groups, false);
  for (std::size_t m = 0; m < n; ++m) {
    if (group[m] == 0 || seen[group[m]]) continue;
    seen[group[m]] = true;
    ++kinds[machines.list[m].gpu_type];
  }
  std::map<std::string, std::size_t> given;
  found.names.resize(n);
  for (std::size_t m = 0; m < n; ++m) {
    if (group[m] == 0) continue;
    const std::string& type = machines.list[m].gpu_type;
    std::string& name = name_of[group[m]];
    if (name.empty()) {
      name = kinds[type] == 1 ? type : type + "@" + std::to_string(++given[type]);
      found.of_type[type].push_back(name);
      ++found.count;
    }
    found.names[m] = name;
  }
  return found;
}

}  // namespace berth::io::slurm
