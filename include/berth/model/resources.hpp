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

/// An amount that is not counted.
inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

/// A resource of which a machine has one amount that its tasks share: what they ask for adds up to
/// at most that. (GPUs are no rows: they and their slices are counted device by device, in
/// FreeMachine and, by the judge, in MachineLoads.)
struct ResourceRow {
  std::string_view key;   ///< in cluster, jobs and plan files, for amounts and for their prices
  std::string_view unit;  ///< in messages: "8000 CPU thousandths"
  /// Comes before the amount in digests, which leave out what is not limited or not asked for.
  /// Empty: the amount is always there.
  std::string_view tag;
  /// A machine that does not tell its amount has no limit, and plans leave out an amount or price
  /// of 0; else the amount is 0 where it is not told, and plans always have it. Without a tag.
  [[nodiscard]] constexpr bool optional() const { return !tag.empty(); }
};

/// Readers, writers, digests, counts, prices, bounds and the judge run over these rows. Rows that
/// are not optional come first; a new one goes to the end.
inline constexpr std::array kResourceTable{
    ResourceRow{"cpu_milli", "CPU thousandths", ""},
    ResourceRow{"memory_mib", "MiB of memory", ""},
    ResourceRow{"nic_mbps", "Mbit/s of NIC", "nic "},
    ResourceRow{"power_w", "W of power", "power "},
};
inline constexpr std::size_t kResources = kResourceTable.size();

/// Rows that code has to name: presets, importers, orders of size.
inline constexpr std::size_t kCpu = 0;
inline constexpr std::size_t kMemory = 1;
inline constexpr std::size_t kNic = 2;
inline constexpr std::size_t kPower = 3;

/// Rows that are not optional: the first so many.
inline constexpr auto kRequiredResources =
    static_cast<std::size_t>(std::ranges::count(kResourceTable, false, &ResourceRow::optional));
static_assert(std::ranges::is_sorted(kResourceTable, {}, &ResourceRow::optional));

/// One number for each resource, by row: amounts, or prices of one unit. Zero unless told.
class Resources {
 public:
  constexpr Resources() = default;
  /// In order of the rows; those not told are 0. @pre no more than there are
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

  /// At most as much of everything.
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

/// What a machine has that tells these amounts, in order of the rows: no limit of optional others.
constexpr Resources machine_capacity(std::initializer_list<std::int64_t> told) {
  Resources amounts = told;
  for (std::size_t r = std::max(told.size(), kRequiredResources); r < kResources; ++r) {
    amounts[r] = kNoLimit;
  }
  return amounts;
}

/// Adds to what a machine has left (or takes from it); without a limit nothing changes.
constexpr void add_within_limits(Resources& left, const Resources& more) {
  for (std::size_t r = 0; r < kResources; ++r) {
    if (left[r] != kNoLimit) left[r] += more[r];
  }
}

}  // namespace berth::model
