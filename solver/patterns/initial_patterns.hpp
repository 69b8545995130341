// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pattern.hpp"

#include <span>
#include <vector>

namespace berth::solver {

/// Fills one machine of the state: types in the given order, as many tasks of each as fit and are
/// open; shares on the fullest device. O(order x devices + tasks x devices).
Pattern fill_machine(const Problem& problem, std::size_t state, const Scope& scope,
                     std::span<const std::int32_t> order);

/// First columns: machines filled one kind after the other, large tasks first, until the jobs run
/// out; and for each type and state one machine that starts with that type.
std::vector<Pattern> start_patterns(const Problem& problem, const Scope& scope);

}  // namespace berth::solver
