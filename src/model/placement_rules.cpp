// SPDX-License-Identifier: Apache-2.0
#include "berth/model/placement_rules.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace berth::model {
namespace {

bool intersect(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::ranges::find_first_of(a, b) != a.end();
}

}  // namespace

void link_rules(std::vector<PlacementRules>& rules) {
  std::set<std::string_view> avoided;
  for (const PlacementRules& row : rules) avoided.insert(row.not_with.begin(), row.not_with.end());
  for (PlacementRules& row : rules) {
    const auto is_avoided = [&](const std::string& label) { return avoided.contains(label); };
    row.concern_others =
        row.exclusive || !row.not_with.empty() || std::ranges::any_of(row.labels, is_avoided);
  }
}

bool concern_machines(const PlacementRules& rules) {
  const PlacementRules none;
  return rules.max_tasks != none.max_tasks || rules.min_domains != none.min_domains ||
         rules.concern_others;
}

bool may_share_machine(const PlacementRules& a, const PlacementRules& b) {
  if (a.exclusive || b.exclusive) return false;
  return !intersect(a.not_with, b.labels) && !intersect(b.not_with, a.labels);
}

Level narrowest_width(const PlacementRules& rules, std::int64_t tasks) {
  std::size_t level = 0;
  for (std::size_t l = 0; l < rules.max_tasks.size(); ++l) {
    if (rules.max_tasks[l] < tasks || rules.min_domains[l] > 1) level = l + 1;
  }
  return static_cast<Level>(level);
}

}  // namespace berth::model
