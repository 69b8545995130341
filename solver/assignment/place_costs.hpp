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
struct SoftMinima {
  std::vector<double> costs;  ///< by place list: soft minimum of the price per GPU
  std::vector<double> pool_shares,
      blend_shares;  ///< by place: its share of the demand for the list
  std::vector<std::vector<std::int32_t>> sorted;  ///< by order: positions by price
};

/// The places of every set that have supply now, priced. Sets with equal places share a place list.
///
/// A place is one pool, or several pools of a domain of which the cheapest are filled:
/// cost c(p) = min { sum p_i x_i : sum x_i = 1, 0 <= x_i <= cap_i / need }.
class PlaceCosts {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  PlaceCosts(const OptionTable& option_table, const PoolIndex& pool_index)
      : option_table_(&option_table), pool_index_(&pool_index) {}

  /// Rebuilds the places of the sets marked in `used` (by set).
  void build(const Supply& supply, std::span<const char> used);

  [[nodiscard]] std::size_t size() const { return place_lists_.size(); }
  /// kNone when the set has no place with supply.
  [[nodiscard]] std::uint32_t of_place_class(std::uint32_t place_class) const {
    return of_place_class_[place_class];
  }

  /// With eps 0 the minimum, and all demand is for the places that have it.
  [[nodiscard]] SoftMinima evaluate(std::span<const double> prices, double eps) const;
  [[nodiscard]] std::vector<double> costs(std::span<const double> prices, double eps) const {
    return evaluate(prices, eps).costs;
  }

  /// Spreads the demand of each place list over the pools: into[p] += demand x share, the share of
  /// a pool in `parts` of one. Shares depend on the place list and the prices alone and the rest is
  /// exact, so that demands may be spread first and added afterwards.
  void distribute(const SoftMinima& soft_minima, std::span<const std::int64_t> demand,
                  std::int64_t parts, std::span<std::int64_t> into) const;

 private:
  struct PlaceList {
    std::uint32_t first_pool, last_pool;    ///< places of one pool, in pools_
    std::uint32_t first_blend, last_blend;  ///< places of several pools, in blends_
  };
  /// Several pools of one list; capacities_[first_capacity + i] belongs to the list's entry first +
  /// i.
  struct PoolBlend {
    std::uint32_t pools, first_capacity;
    std::int64_t need;
    std::uint32_t order;  ///< into orders_
  };
  using Sorted = std::vector<std::vector<std::int32_t>>;  ///< by order: positions by price

  void add_places(const PlaceClass& place_class, const Supply& supply);
  void add_blend(std::span<const std::int32_t> run, const TaskDemand& s, const Supply& supply);
  [[nodiscard]] std::int64_t usable(std::int32_t pool, const TaskDemand& s, model::Level width,
                                    const Supply& supply) const;
  std::uint32_t intern(PlaceList fresh);
  [[nodiscard]] bool equal(const PlaceList& a, const PlaceList& b) const;
  [[nodiscard]] std::uint64_t key(const PlaceList& place_list) const;
  [[nodiscard]] Sorted sort_orders(std::span<const double> prices) const;
  template <class Take>
  void fill_cheapest(const PoolBlend& blend, const Sorted& sorted, Take take) const;
  void soft_minimum(const PlaceList& place_list, double eps, double& cost,
                    SoftMinima& soft_minima) const;

  const OptionTable* option_table_;
  const PoolIndex* pool_index_;
  std::vector<std::uint32_t> of_place_class_;
  std::vector<PlaceList> place_lists_;
  std::vector<std::int32_t> pools_;
  std::vector<PoolBlend> blends_;
  std::vector<std::int64_t> capacities_;
  std::vector<std::span<const std::int32_t>> orders_;  ///< runs of pools that blends fill
  Sorted supplied_;  ///< by order: positions of the pools that have supply, ascending
  std::map<std::pair<const std::int32_t*, std::size_t>, std::uint32_t> known_orders_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> known_lists_;
};

}  // namespace berth::solver::assignment
