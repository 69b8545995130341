// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assignment/option_table.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/solver/market.hpp"

namespace berth::solver::assignment {

/// What places cost at some prices.
struct Rents {
  std::vector<double> slots;           ///< price per GPU: the soft minimum over its places
  std::vector<double> singles, mixes;  ///< by place: its share of the slot's demand
  std::vector<std::vector<std::int32_t>> sorted;  ///< by order: positions by price
};

/// The places of every set that have supply now, priced. Sets with equal places share a slot.
///
/// A place is one pool, or several pools of a domain of which the cheapest are filled:
/// cost c(p) = min { sum p_i x_i : sum x_i = 1, 0 <= x_i <= cap_i / need }.
class Slots {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  Slots(const OptionTable& option_table, const PoolIndex& pool_index)
      : option_table_(&option_table), pool_index_(&pool_index) {}

  /// Rebuilds the places of the sets marked in `used` (by set).
  void build(const Supply& supply, std::span<const char> used);

  [[nodiscard]] std::size_t size() const { return slots_.size(); }
  /// kNone when the set has no place with supply.
  [[nodiscard]] std::uint32_t of_place_class(std::uint32_t place_class) const {
    return of_place_class_[place_class];
  }

  /// With eps 0 the minimum, and all demand goes to the places that have it.
  [[nodiscard]] Rents rents(std::span<const double> prices, double eps) const;
  [[nodiscard]] std::vector<double> costs(std::span<const double> prices, double eps) const {
    return rents(prices, eps).slots;
  }

  /// Spreads the demand of each slot over the pools: into[p] += demand x share, the share of a pool
  /// in `parts` of one. Shares depend on the slot and the prices alone and the rest is exact, so
  /// that demands may be spread first and added afterwards.
  void spread(const Rents& rents, std::span<const std::int64_t> demand, std::int64_t parts,
              std::span<std::int64_t> into) const;

 private:
  struct Slot {
    std::uint32_t first_single, last_single;  ///< places of one pool, in pools_
    std::uint32_t first_mix, last_mix;        ///< places of several pools, in mixes_
  };
  /// Several pools of one list; caps_[first_cap + i] belongs to the list's entry first + i.
  struct Mix {
    std::uint32_t pools, first_cap;
    std::int64_t need;
    std::uint32_t order;  ///< into orders_
  };
  using Sorted = std::vector<std::vector<std::int32_t>>;  ///< by order: positions by price

  void add_places(const PlaceClass& place_class, const Supply& supply);
  void add_mix(std::span<const std::int32_t> run, const TaskProfile& s, const Supply& supply);
  [[nodiscard]] std::int64_t usable(std::int32_t pool, const TaskProfile& s, model::Level width,
                                    const Supply& supply) const;
  std::uint32_t intern(Slot fresh);
  [[nodiscard]] bool equal(const Slot& a, const Slot& b) const;
  [[nodiscard]] std::uint64_t key(const Slot& slot) const;
  [[nodiscard]] Sorted sort_orders(std::span<const double> prices) const;
  template <class Take>
  void fill(const Mix& mix, const Sorted& sorted, Take take) const;
  void soften(const Slot& slot, double eps, double& cost, Rents& rents) const;

  const OptionTable* option_table_;
  const PoolIndex* pool_index_;
  std::vector<std::uint32_t> of_place_class_;
  std::vector<Slot> slots_;
  std::vector<std::int32_t> pools_;
  std::vector<Mix> mixes_;
  std::vector<std::int64_t> caps_;
  std::vector<std::span<const std::int32_t>> orders_;  ///< runs of pools that mixes fill
  Sorted stocked_;  ///< by order: positions of the pools that have supply, ascending
  std::map<std::pair<const std::int32_t*, std::size_t>, std::uint32_t> known_orders_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> known_;
};

}  // namespace berth::solver::assignment
