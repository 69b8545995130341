// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "berth/comm/communicator.hpp"

namespace berth::comm {

/// `all_to_all_varying` of one list per rank. Frees each list as soon as it is packed, so that
/// memory does not hold the sent data twice while data arrives. Collective.
template <Shippable T>
[[nodiscard]] ByRank<T> exchange_lists(const Communicator& comm,
                                       std::vector<std::vector<T>> lists) {
  std::vector<std::size_t> counts;
  for (const auto& list : lists) counts.push_back(list.size());
  std::vector<T> all;
  all.reserve(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  for (auto& list : lists) {
    all.insert(all.end(), list.begin(), list.end());
    std::vector<T>().swap(list);
  }
  return comm.all_to_all_varying<T>(all, counts);
}

}  // namespace berth::comm
