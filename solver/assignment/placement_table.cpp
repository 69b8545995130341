// SPDX-License-Identifier: Apache-2.0
#include "assignment/placement_table.hpp"

#include "berth/model/precedence.hpp"

namespace berth::solver::assignment {

PlacementTable unplaced_table(const model::Valuation& valuation, std::span<const JobId> jobs) {
  PlacementTable placements{.jobs = {jobs.begin(), jobs.end()},
                            .placed = {},
                            .rank = model::precedence_ranks(valuation, jobs)};
  for (const JobId j : jobs) placements.placed.push_back({.job = j, .tasks = {}});
  return placements;
}

model::Placement placement_of(const PlacementTable& placements) {
  model::Placement result;
  for (std::size_t i = 0; i < placements.jobs.size(); ++i) {
    if (placements.is_placed(i)) result.push_back(placements.placed[i]);
  }
  return result;
}

std::vector<JobId> unplaced_of(const PlacementTable& placements) {
  std::vector<JobId> result;
  for (std::size_t i = 0; i < placements.jobs.size(); ++i) {
    if (!placements.is_placed(i)) result.push_back(placements.jobs[i]);
  }
  return result;
}

}  // namespace berth::solver::assignment
