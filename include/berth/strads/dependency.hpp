// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace berth::strads {

/// The dependency check of STRADS (Lee et al. 2013, arXiv:1312.5766): those of `candidates`, in
/// order, that conflict with none taken before them, so that all may be worked on at once.
/// @param conflict  conflict(a, b): whether a and b depend on each other too much
/// O(candidates x taken) calls of it
template <class Conflict>
std::vector<std::size_t> without_conflicts(std::span<const std::size_t> candidates,
                                           const Conflict& conflict) {
  std::vector<std::size_t> taken;
  for (const std::size_t candidate : candidates) {
    bool free = true;
    for (std::size_t i = 0; free && i < taken.size(); ++i) free = !conflict(taken[i], candidate);
    if (free) taken.push_back(candidate);
  }
  return taken;
}

}  // namespace berth::strads
