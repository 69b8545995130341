// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/comm/communicator.hpp"

namespace berth::comm {

/// Delivers every item to its owner.
///
/// @param items   this rank's, any number
/// @param owners  size items.size(); the rank that receives each item
/// @return        the items of all ranks owned by this one, by (source rank, order there)
///
/// O(items + ranks) and two all-to-alls.
template <Shippable T>
std::vector<T> exchange_by_owner(const Communicator& comm, std::span<const T> items,
                                 std::span<const int> owners) {
  BERTH_EXPECT(items.size() == owners.size());
  std::vector<std::size_t> counts(static_cast<std::size_t>(comm.size()), 0);
  for (const int owner : owners) {
    BERTH_EXPECT(0 <= owner && owner < comm.size());
    ++counts[static_cast<std::size_t>(owner)];
  }
  std::vector<std::size_t> next(counts.size(), 0);
  for (std::size_t r = 1; r < next.size(); ++r) next[r] = next[r - 1] + counts[r - 1];
  std::vector<T> sorted(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    sorted[next[static_cast<std::size_t>(owners[i])]++] = items[i];
  }
  return comm.all_to_all_varying<T>(sorted, counts).values;
}

/// Number of ranks, including this one, that run on this machine on at least one of these cores.
/// @param cores  this rank's, ids of the machine; empty (unknown) means any core
int ranks_sharing(const Communicator& comm, std::span<const std::int32_t> cores);

}  // namespace berth::comm
