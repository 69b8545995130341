// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "berth/solver/occupancy.hpp"

namespace berth::solver::local_search {

/// Levels whose domains insertions look at.
inline constexpr std::array kSearchedLevels{model::Level::rack, model::Level::pod,
                                            model::Level::cluster};

/// What room costs at least in each domain of a shard, on its content of now: a search need not
/// look at the machines of a domain where even that is too dear.
class EvictionCostBounds {
 public:
  /// O(occupants log occupants) per level. @pre the occupancy stays as it is while this is asked
  explicit EvictionCostBounds(const Occupancy& occupancy,
                              std::span<const model::Level> levels = kSearchedLevels);

  /// No jobs whose going leaves so many GPU thousandths of the domain free are worth less; infinity
  /// when there are none. The cheapest jobs per thousandth, the last one in part; required jobs
  /// stay.
  [[nodiscard]] double least(const Domain& domain, std::int64_t milli) const;

 private:
  /// Of the jobs in order of value per thousandth: sums up to each.
  struct Curve {
    std::int64_t idle = 0;
    std::vector<std::int64_t> milli;
    std::vector<double> cost;
  };
  static Curve curve_of(const Occupancy& occupancy, const Domain& domain);

  std::unordered_map<const Domain*, Curve> curves_;
};

}  // namespace berth::solver::local_search
