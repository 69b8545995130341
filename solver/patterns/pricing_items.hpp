// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "machine_bound.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::solver {

/// Tasks that fit the empty state with positive profit value - price. `room_for`, by type: at most
/// so many copies each. Sorted as the bound wants them.
std::vector<Item> items_of(const Problem& problem, std::size_t state, std::span<const double> price,
                           std::span<const std::int64_t> room_for);

/// Copies that the state's devices hold when nothing else is there.
std::int64_t most_copies(const MachineState& state, const Item& item);

}  // namespace berth::solver
