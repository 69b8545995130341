// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace berth::comm {

/// Types that ranks may send to each other as raw bytes.
template <class T>
concept Shippable = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;

/// Items of all ranks end to end, by source rank; [rank] is the list that rank gave, in its order.
template <Shippable T>
struct ByRank {
  std::vector<T> values;
  std::vector<std::size_t> begins;  ///< size ranks + 1

  [[nodiscard]] std::span<const T> operator[](int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return std::span<const T>(values).subspan(begins[r], begins[r + 1] - begins[r]);
  }
  [[nodiscard]] int ranks() const { return static_cast<int>(begins.size()) - 1; }
};

}  // namespace berth::comm
