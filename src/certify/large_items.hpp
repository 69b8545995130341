// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capacity_tree.hpp"

#include <cstddef>
#include <cstdint>

#include "berth/base/int128.hpp"

namespace berth::certify {

/// Bound of a node without a penalty: the items of its subtree pay the prices of the nodes below;
/// large ones are chosen whole, the others are divisible. As many of the largest sizes are large as
/// the cells allow, counted in units of their gcd.
Int128 large_items_bound(const CapacityTree& tree, std::size_t node, std::int64_t cells);

}  // namespace berth::certify
