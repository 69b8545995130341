// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth {

/// Number of edits (insert, drop, change, swap neighbours; case is free) that turn one word into
/// the other.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// `did you mean "x"?` with the nearest known word (ties: the first), or an empty text.
template <class Words>
[[nodiscard]] std::string did_you_mean(std::string_view word, const Words& words) {
  std::size_t best = word.size() / 3 + 2;
  std::string_view found;
  for (const std::string_view candidate : words) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  return found.empty() ? std::string() : "did you mean \"" + std::string(found) + "\"?";
}

}  // namespace berth
