// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job_line.hpp"
#include "json_text.hpp"

#include <optional>

#include "berth/model/instance.hpp"

namespace berth::io {

/// Keys of a job's rules about its machines, in the order of `read_rule`.
inline constexpr std::array<std::string_view, 6> kRuleKeys{
    "max_tasks_per", "min_domains", "exclusive", "labels", "not_with", "licenses"};

/// Values of these keys in a line, by key.
using RuleValues = std::array<std::optional<JsonAt>, kRuleKeys.size()>;

/// Reads the rules of a job line whose other keys are read, and refuses rules that no placement of
/// the job keeps.
void read_rules(const RuleValues& values, JobLine& line);

/// The line's rules, as the model keeps them. The caller adds licenses, which need the cluster.
model::PlacementRules rules_of(const JobLine& line);

/// Writes the keys that have a value other than the default.
void add_rules(JsonText& json, const model::Cluster& cluster, const model::PlacementRules& rules);

/// The first rule that a placement breaks, in words, with its key; empty keys: none.
struct BrokenRule {
  std::string_view key;
  std::string text;
};
BrokenRule broken_rule(const model::Cluster& cluster, const model::PlacementRules& rules,
                       std::span<const model::TaskPlacement> tasks);

}  // namespace berth::io
