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

/// Costs of places at some prices.
struct SoftMinima {
  std::vector<double> costs;  ///< by place list: soft minimum of the price per GPU
  std::vector<double> pool_shares,
      blend_shares;                  ///< by place: share of the list's demand, 0 .. 1
  std::vector<std::int32_t> sorted;  ///< as PlaceCosts::supplied_, each order by ascending price
};

/// Costs of the places of each place class that have supply. Classes with equal places share a
/// place list.
///
/// A place is one pool, or several pools of a domain, filled in order of ascending price:
/// cost c(p) = min { sum p_i x_i : sum x_i = 1, 0 <= x_i <= cap_i / need }.
class PlaceCosts {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};  ///< no place list

  PlaceCosts(const OptionTable& option_table, const PoolIndex& pool_index)
      : option_table_(&option_table), pool_index_(&pool_index) {}

  /// Rebuilds the places of the classes marked in `used` (by place class).
  void build(const Supply& supply, std::span<const char> used);

  [[nodiscard]] std::size_t size() const { return place_lists_.size(); }
  /// Place list of a class; kNone when no place of it has supply.
  [[nodiscard]] std::uint32_t of_place_class(std::uint32_t place_class) const {
    return of_place_class_[place_class];
  }

  /// Soft minima q = -eps log sum_places exp(-c / eps) and shares. eps 0: the minimum, whose places
  /// have equal shares of the demand.
  /// @param soft_minima  the result; empty, or of this function since the last `build`
  void evaluate(std::span<const double> prices, double eps, SoftMinima& soft_minima) const;
  [[nodiscard]] std::vector<double> costs(std::span<const double> prices, double eps) const {
    SoftMinima soft_minima;
    evaluate(prices, eps, soft_minima);
    return std::move(soft_minima.costs);
  }

  /// A pool of the list that differs between lists of different homes.
  [[nodiscard]] std::int32_t first_pool(std::uint32_t place_list) const {
    const PlaceList& list = place_lists_[place_list];
    return list.first_pool < list.last_pool ? pools_[list.first_pool]
                                            : orders_[blends_[list.first_blend].order].front();
  }

  /// Distributes the demand of each place list over the pools: into[p] += demand x share, with the
  /// share in units of 1 / parts. Shares depend on place list and prices only, and the arithmetic
  /// is exact, so demands of parts of the jobs may be distributed first and added afterwards.
  void distribute(const SoftMinima& soft_minima, std::span<const std::int64_t> demand,
                  std::int64_t parts, std::span<std::int64_t> into) const;

 private:
  struct PlaceList {
    std::uint32_t first_pool, last_pool;    ///< places of one pool, in pools_
    std::uint32_t first_blend, last_blend;  ///< places of several pools, in blends_
  };
  /// A place of several pools. capacities_[first_capacity + i] belongs to the i-th pool.
  struct PoolBlend {
    std::uint32_t pools, first_capacity;
    std::int64_t need;    ///< GPU thousandths of the job
    std::uint32_t order;  ///< into orders_
  };

  void add_places(const PlaceClass& place_class, const Supply& supply);
  [[nodiscard]] std::size_t most_filled(const PoolBlend& blend) const;
  void add_blend(std::span<const std::int32_t> run, const TaskDemand& s, const Supply& supply);
  [[nodiscard]] std::int64_t usable(std::int32_t pool, const TaskDemand& s, model::Level width,
                                    const Supply& supply) const;
  std::uint32_t intern(PlaceList fresh);
  [[nodiscard]] bool equal(const PlaceList& a, const PlaceList& b) const;
  [[nodiscard]] std::uint64_t key(const PlaceList& place_list) const;
  void sort_orders(std::span<const double> prices, std::vector<std::int32_t>& sorted) const;
  template <class Take>
  void fill_cheapest(const PoolBlend& blend, std::span<const std::int32_t> sorted, Take take) const;
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
  /// Order after order: positions of the pools that have supply, ascending; ends of the orders.
  std::vector<std::int32_t> supplied_;
  std::vector<std::size_t> supplied_end_;
  std::vector<std::size_t> most_filled_;  ///< by order: most pools that one of its blends passes
  std::map<std::pair<const std::int32_t*, std::size_t>, std::uint32_t> known_orders_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> known_lists_;
};

}  // namespace berth::solver::assignment
