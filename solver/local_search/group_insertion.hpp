// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "local_search/eviction_cost_bounds.hpp"
#include "local_search/insertion.hpp"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "berth/solver/occupancy.hpp"

namespace berth::solver::local_search {

/// Insertions of jobs with several task groups, of which openings of one machine say too little: in
/// each domain the jobs of least value per GPU leave until all tasks fit beside the others on the
/// machines of the domain with free GPUs; then those whose leaving is not needed come back, by
/// descending value. The domain of least loss is taken. Victims of a quota leave in any case;
/// required jobs stay.
class GroupInsertions {
 public:
  /// @param costs  bounds for the present content, which stays as long as this is used
  GroupInsertions(Occupancy& state, KeptCostBounds& costs) : state_(state), costs_(costs) {}

  /// Does not change the state in the end. O(domains log domains), and for each domain whose bound
  /// is below the least loss found O(log victims + 64) placements of the job.
  Insertion find(JobId job);

 private:
  friend class GroupInsertionSearch;
  struct Victim {
    JobId job;
    double value = 0.0;
    std::int64_t milli = 0;  ///< GPU thousandths in the place
  };
  /// A domain, or a machine of it, without the job.
  struct Place {
    std::vector<Victim> victims;  ///< evictable, by ascending value per GPU
    /// With a free part of a GPU, or without GPUs; in small domains all. Ascending.
    std::vector<MachineId> roomy;
    std::int64_t free_milli = 0;  ///< GPU thousandths, what exclusive jobs keep included
  };
  const Place& place(std::span<const MachineId> machines);

  Occupancy& state_;
  KeptCostBounds& costs_;
  std::unordered_map<const MachineId*, std::unordered_map<std::size_t, Place>> places_;
};

}  // namespace berth::solver::local_search
