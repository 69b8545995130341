// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/coordinator/decomposition.hpp"
#include "berth/planner_model/task_profile.hpp"

namespace berth::coordinator {

/// Partition of the task profiles of each block of shards into `pieces` pieces of about equal
/// numbers of jobs. Jobs of one profile and block are exchanged in one piece. Stores profiles, not
/// jobs.
class ProfilePartition {
 public:
  /// Collective. @param jobs  by block: this rank's part of all jobs, with their records
  ProfilePartition(const comm::Communicator& comm, const model::WorkloadView& workload,
                   std::span<const std::vector<JobId>> jobs, std::size_t pieces);
  [[nodiscard]] ShardId piece_of(const model::WorkloadView& workload, JobId job,
                                 std::size_t block) const;

 private:
  std::map<std::pair<planner_model::TaskProfile, std::size_t>, ShardId> piece_of_;
};

/// One round of cyclic exchanges (Thompson and Psaraftis 1993) over the whole cluster, or over
/// blocks of at most 256 shards, because the search takes time quadratic in the jobs. The jobs are
/// partitioned by profile into as many pieces as shards, jobs of equal profiles exchange places
/// until no cycle gains, and all return to the shards of their machines; unplaced jobs are
/// distributed by id. Free capacity does not change.
///
/// Each rank passes its part of the placement, which is rebuilt; the result does not depend on the
/// owners. No profile uses more of any limit than before. Messages as in `regroup`.
/// @param stop  checked between profiles
void exchange_cyclically(const comm::Communicator& comm, const Decomposition& decomposition,
                         const DistributedPlacement& placement, const StopToken& stop = {});

}  // namespace berth::coordinator
