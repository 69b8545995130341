// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>

namespace berth::model {

/// Amount of a resource without a limit.
inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

/// A resource that the tasks of a machine share: their needs add up to at most the machine's
/// amount. GPUs are no row: they and their slices are counted device by device, by FreeMachine and,
/// in the judge, by MachineLoads.
struct ResourceRow {
  std::string_view key;   ///< in cluster, jobs and plan files, for amounts and for their prices
  std::string_view unit;  ///< in messages: "8000 CPU thousandths"
  /// Precedes the amount in digests, which then leave out amounts without a limit and needs of 0.
  /// Empty: the amount is always in the digest.
  std::string_view tag;
  /// True: a machine whose file does not name the resource has no limit of it, and plans leave out
  /// amounts and prices of 0. False: such a machine has 0, and plans always contain the amount.
  [[nodiscard]] constexpr bool optional() const { return !tag.empty(); }
};

/// Readers, writers, digests, counts, prices, bounds and the judge iterate over these rows. Rows
/// that are not optional come first; a new row is appended.
inline constexpr std::array kResourceTable{
    ResourceRow{"cpu_milli", "CPU thousandths", ""},
    ResourceRow{"memory_mib", "MiB of memory", ""},
    ResourceRow{"nic_mbps", "Mbit/s of NIC", "nic "},
    ResourceRow{"power_w", "W of power", "power "},
};
inline constexpr std::size_t kResources = kResourceTable.size();

/// Rows that code names: presets, importers, orders of size.
inline constexpr std::size_t kCpu = 0;
inline constexpr std::size_t kMemory = 1;
inline constexpr std::size_t kNic = 2;
inline constexpr std::size_t kPower = 3;

/// Number of rows that are not optional; they are the first ones.
inline constexpr auto kRequiredResources =
    static_cast<std::size_t>(std::ranges::count(kResourceTable, false, &ResourceRow::optional));
static_assert(std::ranges::is_sorted(kResourceTable, {}, &ResourceRow::optional));

/// One number for each resource, by row: amounts, or prices of one unit. 0 by default.
class Resources {
 public:
  constexpr Resources() = default;
  /// In the order of the rows; missing ones are 0. @pre at most kResources
  constexpr Resources(std::initializer_list<std::int64_t> told) {
    std::ranges::copy(told, amount_.begin());
  }

  constexpr std::int64_t& operator[](std::size_t row) { return amount_[row]; }
  constexpr std::int64_t operator[](std::size_t row) const { return amount_[row]; }
  [[nodiscard]] constexpr auto begin() const { return amount_.begin(); }
  [[nodiscard]] constexpr auto end() const { return amount_.end(); }
  auto operator<=>(const Resources&) const = default;

  constexpr Resources& operator+=(const Resources& other) {
    for (std::size_t r = 0; r < kResources; ++r) amount_[r] += other.amount_[r];
    return *this;
  }
  friend constexpr Resources operator+(Resources a, const Resources& b) { return a += b; }
  friend constexpr Resources operator*(std::int64_t count, Resources each) {
    for (std::int64_t& amount : each.amount_) amount *= count;
    return each;
  }

  /// True when no amount exceeds that of `room`.
  [[nodiscard]] constexpr bool within(const Resources& room) const {
    for (std::size_t r = 0; r < kResources; ++r) {
      if (amount_[r] > room.amount_[r]) return false;
    }
    return true;
  }
  [[nodiscard]] constexpr bool none() const { return *this == Resources{}; }
  [[nodiscard]] constexpr bool any_negative() const {
    return std::ranges::any_of(amount_, [](std::int64_t amount) { return amount < 0; });
  }

 private:
  std::array<std::int64_t, kResources> amount_{};
};

/// Capacity of a machine with these amounts, in the order of the rows. Missing optional resources
/// have no limit.
constexpr Resources machine_capacity(std::initializer_list<std::int64_t> told) {
  Resources amounts = told;
  for (std::size_t r = std::max(told.size(), kRequiredResources); r < kResources; ++r) {
    amounts[r] = kNoLimit;
  }
  return amounts;
}

/// Adds `more`, which may be negative, to the free amounts `left` of a machine; a resource without
/// a limit does not change.
constexpr void add_within_limits(Resources& left, const Resources& more) {
  for (std::size_t r = 0; r < kResources; ++r) {
    if (left[r] != kNoLimit) left[r] += more[r];
  }
}

}  // namespace berth::model
