// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/certify/bound.hpp"
#include "berth/certify/figures.hpp"
#include "berth/certify/job_bests.hpp"
#include "berth/certify/job_facts.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/gap_parts.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/plan.hpp"

namespace berth::pipeline {

/// Figures of a plan as certify recomputes them.
struct Assessment {
  model::Figures figures;
  model::GapParts gap_parts;
  std::vector<JobId> required_missing;  ///< ascending
};

/// The judge (certify) evaluated by all ranks together: each counts its own jobs, and rank 0 adds
/// up what they evaluate. Nobody needs more than its own jobs' records and the pinned ones
/// (certify/part.hpp), and it does not matter which jobs are whose: not to one bit.
///
/// Where prices of single jobs are asked about all jobs must be rank 0's, whose instance is whole
/// (asserted).
///
/// All functions are collective. Rank 0's certificate counts, what the others pass is not looked
/// at. Messages: the prices to all; to rank 0 about 3 KB from each rank, 32 B for each different
/// task that its jobs ask for and 4 B for each required job that is missing.
class DistributedJudge {
 public:
  /// @param jobs  of this rank, ascending; over all ranks every planned job once
  /// Keeps references to all of these.
  DistributedJudge(const comm::Communicator& comm, const model::Instance& instance,
                   model::Objective objective, std::span<const JobId> jobs);

  /// What the prices prove of plans that place at least the required jobs placed here.
  /// @param placement  of this rank's jobs, ascending
  /// @return alike on all ranks
  [[nodiscard]] certify::Bound bound(const model::Certificate& certificate,
                                     const model::Placement& placement = {}) const;

  /// What the plan is worth, alike on all ranks.
  [[nodiscard]] double objective(const model::Placement& placement) const;

  /// All of it, on rank 0; empty elsewhere.
  [[nodiscard]] Assessment judge(const model::Certificate& certificate,
                                 const model::Placement& placement) const;

  /// Rank 0's: the certificate at the largest scale, its own at most, at which its sums stay within
  /// 128 bits; prices are rounded down. Not collective. @pre no tree
  [[nodiscard]] model::Certificate fitted(model::Certificate certificate) const;

  [[nodiscard]] const comm::Communicator& comm() const { return comm_; }
  /// Of all jobs, on rank 0.
  [[nodiscard]] const certify::JobFacts& facts() const { return facts_; }

 private:
  /// This rank's jobs at prices that all know, and what all jobs prove.
  struct Evaluation {
    model::Certificate prices;
    certify::JobBests bests;
    certify::Bound bound;
  };
  [[nodiscard]] Evaluation evaluate(const model::Certificate& certificate,
                                    const model::Placement& placement) const;
  void expect_usable(const model::Certificate& certificate) const;

  const comm::Communicator& comm_;
  const model::Instance& instance_;
  model::Objective objective_;
  std::span<const JobId> jobs_;
  certify::JobFacts facts_;  ///< of all ranks' jobs; rank 0's
};

}  // namespace berth::pipeline
