// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/coordinator/regroup.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/task_profile.hpp"
#include "berth/model/value.hpp"
#include "berth/solver/shard.hpp"

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
  std::map<model::TaskProfile, ShardId> piece_of_;
};

/// One round of cyclic exchanges over the whole cluster: the jobs are partitioned by profile
/// into as many pieces as there are shards, those with the same tasks exchange places until no
/// cycle gains, and all return to the shards of their machines; unplaced jobs are distributed by
/// id. Free capacity stays as it is.
///
/// Each rank passes its own shards, the same `spanning`, and gets them rebuilt; the outcome does
/// not depend on who owns what. Messages as in `regroup`.
/// @param spanning  ascending JobId; so afterwards
/// @param stop      asked between kinds
/// @param allocation   of the shards: no kind uses more of any limit than before, and the shards
/// are
///                  held to what they use again. Null: there are no limits
void exchange_cyclically(const comm::Communicator& comm, const model::Valuation& valuation,
                         const Decomposition& decomposition, std::span<solver::Shard> mine,
                         model::Placement& spanning, const StopToken& stop = {},
                         LimitAllocation* allocation = nullptr);

}  // namespace berth::coordinator
