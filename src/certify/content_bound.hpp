// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "machine_knapsack.hpp"

#include <cstddef>
#include <span>

#include "berth/base/int128.hpp"

namespace berth::certify {

/// Limits of the work for one machine; a limit that is reached costs quality, never validity.
struct ContentWork {
  std::size_t labels = 4000;    ///< of the search (decision 27)
  std::size_t cells = 500'000;  ///< filled in tables of the relaxation. Chosen, not tuned.
};

/// Upper bound on the sum of prices of the items on one machine: the largest sum of any content
/// when the search ends within its labels, else at most the best relaxation found.
/// @param items  each fits the machine alone; one that needs nothing and has no GPU has `copies`
/// O(cells + labels^2) time, O(items x devices + shares x steps of a device + labels) memory.
Int128 content_bound(const MachineRoom& room, std::span<const KnapsackItem> items,
                     const ContentWork& work = {});

}  // namespace berth::certify
