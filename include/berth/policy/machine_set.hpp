// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::policy {

/// A set of machines as bits in two levels: O(1) to edit, O(machines / 4096) at worst to search.
class MachineSet {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  MachineSet() = default;
  explicit MachineSet(std::size_t machines)
      : words_((machines + 63) / 64), summary_((words_.size() + 63) / 64) {}

  void insert(std::size_t machine) {
    words_[machine / 64] |= bit(machine);
    summary_[machine / 4096] |= bit(machine / 64);
  }
  void erase(std::size_t machine) {
    if ((words_[machine / 64] &= ~bit(machine)) == 0)
      summary_[machine / 4096] &= ~bit(machine / 64);
  }

  /// Least machine of the set in [from, end), or kNone.
  [[nodiscard]] std::size_t next(std::size_t from, std::size_t end) const {
    if (from >= end) return kNone;
    std::size_t w = from / 64;
    if (w >= words_.size()) return kNone;
    if (const std::uint64_t rest = words_[w] & above(from); rest != 0) {
      return within(w * 64 + static_cast<std::size_t>(std::countr_zero(rest)), end);
    }
    std::size_t s = ++w / 64;
    if (s >= summary_.size()) return kNone;
    std::uint64_t rest = summary_[s] & above(w);
    while (rest == 0) {
      if (++s >= summary_.size() || s * 4096 >= end) return kNone;
      rest = summary_[s];
    }
    w = s * 64 + static_cast<std::size_t>(std::countr_zero(rest));
    return within(w * 64 + static_cast<std::size_t>(std::countr_zero(words_[w])), end);
  }

 private:
  static std::uint64_t bit(std::size_t i) { return std::uint64_t{1} << (i % 64); }
  static std::uint64_t above(std::size_t i) { return ~std::uint64_t{0} << (i % 64); }
  static std::size_t within(std::size_t machine, std::size_t end) {
    return machine < end ? machine : kNone;
  }

  std::vector<std::uint64_t> words_;    ///< bit per machine
  std::vector<std::uint64_t> summary_;  ///< bit per word that is not 0
};

}  // namespace berth::policy
