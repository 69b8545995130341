// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "machine_bound.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::solver {

/// Tasks that fit an empty machine of bin type `bin` with positive profit value - price, in the
/// order that `bound_at` requires (by share).
/// @param price     by job type, scaled
/// @param room_for  by job type: most copies
std::vector<PricingItem> pricing_items(const PackingProblem& problem, std::size_t bin,
                                       std::span<const double> price,
                                       std::span<const std::int64_t> room_for);

/// Copies of the item that the devices of an empty machine hold.
std::int64_t most_copies(const BinType& bin, const PricingItem& item);

}  // namespace berth::solver
