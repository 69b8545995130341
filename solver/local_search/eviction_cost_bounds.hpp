// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "berth/solver/occupancy.hpp"

namespace berth::solver::local_search {

/// Levels of the domains that insertions search.
inline constexpr std::array kSearchedLevels{model::Level::rack, model::Level::pod,
                                            model::Level::cluster};

/// Lower bounds on the cost of room in each domain of a shard, at its present content: a search
/// skips the machines of domains where even the bound is too high.
class EvictionCostBounds {
 public:
  /// O(occupants log occupants) per level. @pre the occupancy does not change while this is used
  explicit EvictionCostBounds(const Occupancy& occupancy,
                              std::span<const model::Level> levels = kSearchedLevels);

  /// Lower bound on the value evicted to free `milli` GPU thousandths of the domain; infinity if no
  /// eviction suffices. Fractional knapsack (Dantzig 1957): jobs by ascending value per thousandth,
  /// the last one in part; required jobs stay.
  [[nodiscard]] double least(const Domain& domain, std::int64_t milli) const;

 private:
  /// Prefix sums over the jobs by ascending value per thousandth.
  struct EvictionCurve {
    std::int64_t idle = 0;
    std::vector<std::int64_t> milli;
    std::vector<double> cost;
  };
  static EvictionCurve curve_of(const Occupancy& occupancy, const Domain& domain);

  std::unordered_map<const Domain*, EvictionCurve> curves_;
};

/// Bounds of all domains of a type and level, kept for each amount that was asked for: 8 bytes for
/// each of them. Not for several threads at once.
class KeptCostBounds {
 public:
  /// @pre the occupancy does not change while this is used
  KeptCostBounds(const Occupancy& occupancy, const EvictionCostBounds& bounds)
      : index_(occupancy.index()), bounds_(bounds) {}

  /// See `EvictionCostBounds::least`. O(1), once O(domains log occupants).
  /// @param domain  of `index().domains(type, domain.level)`
  [[nodiscard]] double least(GpuTypeId type, const Domain& domain, std::int64_t milli) {
    const std::tuple list(type, domain.level, milli);
    if (list != list_) choose(list);
    return (*costs_)[static_cast<std::size_t>(&domain - first_)];
  }

 private:
  using List = std::tuple<GpuTypeId, model::Level, std::int64_t>;
  void choose(const List& list);

  const DomainIndex& index_;
  const EvictionCostBounds& bounds_;
  std::map<List, std::vector<double>> known_;
  List list_ = {{}, {}, -1};  ///< the last one asked for
  const Domain* first_ = nullptr;
  const std::vector<double>* costs_ = nullptr;
};

}  // namespace berth::solver::local_search
