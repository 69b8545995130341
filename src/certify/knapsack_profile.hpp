// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::certify {

/// Largest profit by capacity, in units from 0; never descending.
using KnapsackProfile = std::vector<std::int64_t>;

/// Adds items of one size, each at most once: the best number of them for every capacity. Their
/// profits are prefix sums of a descending list, so the best number ascends with the capacity
/// within a residue of the size and is found by divide and conquer (knapsacks with few sizes:
/// Pferschy 1999).
/// @param size     units of each item, >= 1
/// @param profits  descending, >= 0
/// O(capacity log(capacity / size)).
void add_equal_sizes(KnapsackProfile& best, std::size_t size,
                     std::span<const std::int64_t> profits);

/// Cells that `add_equal_sizes` fills for one size, about.
std::int64_t cells_of_size(std::int64_t capacity, std::int64_t size);

/// Largest profit of two disjoint parts together, up to `capacity` units or what both have.
/// O(|a| |b|).
KnapsackProfile merged(const KnapsackProfile& a, const KnapsackProfile& b, std::size_t capacity);

}  // namespace berth::certify
