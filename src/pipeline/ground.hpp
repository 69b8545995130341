// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stages.hpp"
#include "start.hpp"

#include <string>

#include "berth/coordinator/job_records.hpp"
#include "berth/model/ledger.hpp"
#include "berth/partition/partition.hpp"
#include "berth/pipeline/plan_cluster.hpp"

namespace berth::pipeline {

/// What is to be planned, and how it is cut: the same on all ranks, though each looks at its own
/// jobs alone.
class Ground {
 public:
  /// Collective.
  Ground(const comm::Communicator& comm, const model::Instance& instance,
         const PlanOptions& options, Stages& stages, coordinator::JobRecords& jobs);

  /// Refers to this and to what it is given.
  [[nodiscard]] Scene scene(const comm::Communicator& comm, const PlanOptions& options,
                            coordinator::JobRecords& jobs) const;

 private:
  model::Valuation face_;
  model::Quotas quotas_;
  model::Links links_;
  model::UplinkGroups uplinks_;
  model::Pools pools_;
  partition::Shards shards_;
  partition::Ownership owners_;
  std::string digest_;
};

}  // namespace berth::pipeline
