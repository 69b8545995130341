// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "berth/comm/communicator.hpp"
#include "berth/coordinator/decomposition.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/coordinator/plan_shards.hpp"
#include "berth/model/placement.hpp"
#include "berth/solver/shard_planning.hpp"

namespace berth::coordinator {

/// Groups of machines of one pass and how each is planned anew.
struct NeighbourhoodPass {
  int number = 1;                     ///< with `seed` the key of the draws
  std::uint64_t seed = 0;             ///< of the plan
  std::int64_t gpus = 512;            ///< of a group, about, > 0
  solver::Neighbourhood search = {};  ///< its key is set by group
};

/// One pass of a large neighbourhood search (Shaw 1998) over the whole plan. The machines are dealt
/// to groups (`draw_groups`), which belong to ranks in turn; a group gets the jobs placed inside it
/// and a drawn part of the unplaced ones, and plans them anew (`solver::replan`). Gangs over
/// several groups keep their places. No group loses value.
///
/// @param decomposition  its shards and owners are not used
/// @param settings  of the groups; limits of its `run` are kept, as in regroup rounds
/// @param here  placements of the jobs at home on this rank, ascending; updated
/// @return number of groups that gained
/// Collective. The result does not depend on ranks and threads. Messages: two all-to-alls, in all
/// 32 B per placed task and 8 B per unplaced job, and the records of the jobs.
std::int64_t search_neighbourhoods(const comm::Communicator& comm,
                                   const Decomposition& decomposition, JobRecords& records,
                                   const ShardSettings& settings, const NeighbourhoodPass& pass,
                                   model::Placement& here);

}  // namespace berth::coordinator
