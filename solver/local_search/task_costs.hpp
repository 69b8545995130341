// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "berth/base/infinity.hpp"

namespace berth::solver::local_search {

/// The number of tasks on one machine for which one of them costs least.
struct TaskCost {
  double each = kInfinity;  ///< of one of them
  int tasks = 0;            ///< 0: no task has room there
};

/// Task costs that were computed before, by GPUs of a task and slot of the room: a search asks for
/// the same ones of thousands of machines again and again, while a chain changes a few.
/// 24 bytes for each slot and size.
class KnownTaskCosts {
 public:
  struct Entry {
    std::uint32_t version = ~std::uint32_t{0};  ///< of the machine's room
    std::uint32_t stamp = 0;                    ///< of the costs of freeing its GPUs
    TaskCost cost;
  };

  explicit KnownTaskCosts(std::size_t slots) : slots_(slots) {}

  /// By slot, for tasks of so many GPUs. Valid until the next call.
  [[nodiscard]] std::vector<Entry>& of(int gpus_per_task) {
    std::vector<Entry>& entries = entries_[gpus_per_task];
    entries.resize(slots_);
    return entries;
  }

 private:
  std::size_t slots_;
  std::map<int, std::vector<Entry>> entries_;
};

}  // namespace berth::solver::local_search
