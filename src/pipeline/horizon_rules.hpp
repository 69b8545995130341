// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/horizon/problem.hpp"
#include "berth/model/placement_rules.hpp"

namespace berth::pipeline {

/// By row of rules: what jobs set on their machines and avoid there. Empty when no rule is about
/// other jobs. O(labels log labels).
std::vector<horizon::Neighbours> neighbours_of(std::span<const model::PlacementRules> rules);

/// True when the rules are about the number of tasks or of domains.
bool spreads(const model::PlacementRules& rules);

/// True when so many tasks can be in enough machines, racks and pods.
bool can_spread(const model::PlacementRules& rules, std::int64_t tasks);

}  // namespace berth::pipeline
