// SPDX-License-Identifier: Apache-2.0
#include "horizon_rules.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace berth::pipeline {
namespace {

constexpr std::int32_t kAnyJob = 0;        ///< mark of every job
constexpr std::int32_t kExclusiveJob = 1;  ///< mark of jobs that are exclusive

/// Marks of labels: of jobs that have one, and of jobs that are not with it.
class LabelMarks {
 public:
  explicit LabelMarks(std::span<const model::PlacementRules> rules) {
    for (const model::PlacementRules& row : rules) {
      for (const std::string& label : row.not_with) ids_.try_emplace(label, 0);
    }
    std::int32_t next = kExclusiveJob + 1;
    for (auto& [label, id] : ids_) {
      id = next;
      next += 2;
    }
  }
  void add(const model::PlacementRules& row, horizon::Neighbours& to) const {
    for (const std::string& label : row.labels) {
      const auto found = ids_.find(label);
      if (found == ids_.end()) continue;  // nobody avoids it
      to.sets.push_back(found->second);
      to.avoids.push_back(found->second + 1);
    }
    for (const std::string& label : row.not_with) {
      to.avoids.push_back(ids_.at(label));
      to.sets.push_back(ids_.at(label) + 1);
    }
  }

 private:
  std::map<std::string, std::int32_t> ids_;
};

}  // namespace

std::vector<horizon::Neighbours> neighbours_of(std::span<const model::PlacementRules> rules) {
  std::vector<horizon::Neighbours> result;
  if (std::ranges::none_of(rules, &model::PlacementRules::concern_others)) return result;
  const bool exclusive = std::ranges::any_of(rules, &model::PlacementRules::exclusive);
  const LabelMarks labels(rules);
  for (const model::PlacementRules& row : rules) {
    horizon::Neighbours& of = result.emplace_back();
    if (exclusive) {
      of.sets.push_back(kAnyJob);
      if (row.exclusive) of.sets.push_back(kExclusiveJob);
      of.avoids.push_back(row.exclusive ? kAnyJob : kExclusiveJob);
    }
    labels.add(row, of);
    std::ranges::sort(of.sets);
    std::ranges::sort(of.avoids);
  }
  return result;
}

bool spreads(const model::PlacementRules& rules) {
  const model::PlacementRules none;
  return rules.max_tasks != none.max_tasks || rules.min_domains != none.min_domains;
}

bool can_spread(const model::PlacementRules& rules, std::int64_t tasks) {
  return std::ranges::all_of(rules.min_domains,
                             [&](std::int32_t domains) { return domains <= tasks; });
}

}  // namespace berth::pipeline
