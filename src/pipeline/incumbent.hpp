// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "distributed_judge.hpp"
#include "planning_context.hpp"
#include "prove.hpp"

#include <compare>
#include <cstdint>

#include "berth/coordinator/job_records.hpp"
#include "berth/model/placement.hpp"

namespace berth::pipeline {

/// The best plan of several starts. Between calls, jobs and placements are at their homes on all
/// ranks, wherever a start has moved them. Functions are collective, except `objective`.
class Incumbent {
 public:
  /// @param placement  of the jobs at home on this rank; kept by reference, always the best plan
  /// @param judge      its home jobs are not used
  Incumbent(const PlanningContext& context, coordinator::JobRecords& records,
            const DistributedJudge& judge, model::Placement& placement);

  /// Keeps this plan if it has more required jobs, or as many and a larger objective.
  /// @param found  of the jobs at home on this rank, on which `records` decide
  void offer(const model::Placement& found);
  /// Moves all jobs home and computes the score anew: after the placement or homes were edited.
  void refresh();

  /// True at the gap asked for, or at one that is `enough`, or when some rank's stop is requested.
  [[nodiscard]] bool ends_search(const Proof& proof, double enough = 0.0) const;
  [[nodiscard]] double objective() const { return score_.objective; }

 private:
  /// What decides between two plans, in this order.
  struct Score {
    std::int64_t required = 0;  ///< placed required jobs
    double objective = 0.0;
    auto operator<=>(const Score&) const = default;
  };
  [[nodiscard]] model::Placement at_homes(const model::Placement& mine) const;
  [[nodiscard]] Score score(const model::Placement& placement) const;

  const PlanningContext& context_;
  coordinator::JobRecords& records_;
  const DistributedJudge& judge_;
  model::Placement& placement_;
  Score score_;
};

}  // namespace berth::pipeline
