// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "machine_bound.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::solver {

/// Tasks that fit an empty machine with positive profit value - price. `room_for`, by type: at most
/// so many copies each. Sorted as the bound wants them.
std::vector<PricingItem> pricing_items(const PackingProblem& problem, std::size_t bin,
                                       std::span<const double> price,
                                       std::span<const std::int64_t> room_for);

/// Copies that the bin type's devices hold when nothing else is there.
std::int64_t most_copies(const BinType& bin, const PricingItem& item);

}  // namespace berth::solver
