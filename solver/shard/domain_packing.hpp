// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth::solver {

/// A job that must lie in one pod, or in one rack of it.
struct DomainItem {
  std::int64_t units = 0;  ///< > 0
  double value = 0.0;
  bool in_rack = false;
};

/// Free units of the racks of one pod.
using RoomOfRacks = std::vector<std::int64_t>;

/// Where an item lies; -1: nowhere. Items of pods have no rack.
struct ItemPlace {
  std::int32_t pod = -1;
  std::int32_t rack = -1;  ///< of the pod
};

/// Packs items into pods, and those of racks into racks of their pod, for the largest value placed:
/// minimum bin slack (Gupta and Ho 1999; Fleszar and Hindi 2002). A bin gets the largest item that
/// is left and, by dynamic programming over its units, the others that leave least room. The first
/// start orders the items by size, the others by sizes shaken at random; the best one counts.
///
/// @param pods  free units by rack, by pod; items of a pod may use what its racks have left
/// @param work  limit of table cells over all starts; 0 starts when one is above it
/// @return by item. Deterministic. O(work + starts x items log items)
std::vector<ItemPlace> pack_domains(std::span<const RoomOfRacks> pods,
                                    std::span<const DomainItem> items,
                                    std::int64_t work = 20'000'000);

}  // namespace berth::solver
