// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/coordinator/decomposition.hpp"
#include "berth/planner_model/task_profile.hpp"

namespace berth::coordinator {

/// Which of `pieces` pieces a job is exchanged in. Jobs of one task profile are in the same one,
/// the pieces hold about as many jobs each. Knows the profiles, not the jobs.
class ProfilePartition {
 public:
  /// Collective. @param jobs  this rank's part of all jobs, with their records
  ProfilePartition(const comm::Communicator& comm, const model::Workload& workload,
                   std::span<const JobId> jobs, std::size_t pieces);
  [[nodiscard]] ShardId piece_of(const model::Workload& workload, JobId job) const;

 private:
  std::map<planner_model::TaskProfile, ShardId> piece_of_;
};

/// One round of cyclic exchanges over the whole cluster: the jobs are partitioned by profile
/// into as many pieces as there are shards, those with the same tasks exchange places until no
/// cycle gains, and all return to the shards of their machines; unplaced jobs are distributed by
/// id. Free capacity stays as it is.
///
/// Each rank passes its part of the placement and gets it rebuilt; the outcome does not depend on
/// which rank owns what. No profile uses more of any limit than before. Messages as in `regroup`.
/// @param stop  asked between profiles
void exchange_cyclically(const comm::Communicator& comm, const Decomposition& decomposition,
                         const DistributedPlacement& placement, const StopToken& stop = {});

}  // namespace berth::coordinator
