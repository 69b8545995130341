// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/limit_usage.hpp"
#include "berth/model/placement.hpp"

namespace berth::solver::assignment {

/// The jobs of an option table and where they are placed; empty tasks = not placed. By position in
/// the option table.
struct PlacementTable {
  std::vector<JobId> jobs;
  std::vector<model::JobPlacement> placed;
  std::vector<std::uint32_t> rank;  ///< of the jobs by precedence
  /// What those placed use of quotas and uplinks; searches keep its allowances. Null: no limits.
  model::LimitUsage* limit_usage = nullptr;

  [[nodiscard]] bool is_placed(std::size_t position) const {
    return !placed[position].tasks.empty();
  }
};

PlacementTable unplaced_table(const model::Valuation& valuation, std::span<const JobId> jobs);
model::Placement placement_of(const PlacementTable& placements);   ///< ascending position
std::vector<JobId> unplaced_of(const PlacementTable& placements);  ///< ascending position

}  // namespace berth::solver::assignment
