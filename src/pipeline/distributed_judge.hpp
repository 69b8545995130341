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

/// The judge (certify) evaluated by all ranks together: each rank evaluates its own jobs, and rank
/// 0 adds up the results. A rank needs only the records of its own jobs and of the pinned ones
/// (certify/job_subset.hpp), and the result does not depend on the distribution of jobs, to the
/// last bit.
///
/// Prices of single jobs can only be judged if all jobs are rank 0's, whose instance is whole
/// (asserted).
///
/// All functions are collective. Rank 0's certificate counts, those of other ranks are ignored.
/// Messages: the prices to all; to rank 0 about 3 KB from each rank, 32 B for each different task
/// of its jobs and 4 B for each required job that is missing.
class DistributedJudge {
 public:
  /// @param jobs  of this rank, ascending; over all ranks every planned job once
  /// Keeps references to all of these.
  DistributedJudge(const comm::Communicator& comm, const model::InstanceView& instance,
                   model::Objective objective, std::span<const JobId> jobs);

  /// This judge with other home jobs, which together are the same; no message.
  [[nodiscard]] DistributedJudge with_homes(std::span<const JobId> jobs) const;

  /// The bound that the prices prove for plans that place at least the required jobs placed here.
  /// @param placement  of this rank's jobs, ascending
  /// @return equal on all ranks
  [[nodiscard]] certify::Bound bound(const model::Certificate& certificate,
                                     const model::Placement& placement = {}) const;

  /// The plan's objective, equal on all ranks.
  [[nodiscard]] double objective(const model::Placement& placement) const;

  /// The whole assessment, on rank 0; empty elsewhere.
  [[nodiscard]] Assessment judge(const model::Certificate& certificate,
                                 const model::Placement& placement) const;

  /// Rank 0's certificate at the largest scale, at most its own, at which its sums stay within 128
  /// bits; prices are rounded down. Not collective. @pre no tree
  [[nodiscard]] model::Certificate fitted(model::Certificate certificate) const;

  /// A bound, with the jobs that it chooses from on rank 0.
  struct ChoiceBound {
    certify::Bound bound;
    std::vector<certify::JobChoice> choices;  ///< of all jobs with GPUs; empty on other ranks
  };
  /// @pre the certificate chooses whole jobs
  [[nodiscard]] ChoiceBound choice_bound(const model::Certificate& certificate) const;

  /// Running jobs that the bound leaves where they are, ascending; on rank 0.
  [[nodiscard]] std::vector<JobId> staying_jobs(const model::Certificate& certificate) const;

  [[nodiscard]] const comm::Communicator& comm() const { return comm_; }
  /// Facts of all jobs, on every rank.
  [[nodiscard]] const certify::JobFacts& facts() const { return facts_; }

 private:
  /// This rank's jobs at prices known to all ranks, and the bound of all jobs.
  struct JudgedJobs {
    model::Certificate prices;
    certify::JobBests bests;
    certify::Bound bound;
    std::vector<certify::JobChoice> choices;  ///< on rank 0
    std::vector<certify::StayItem> stays;     ///< on rank 0
  };
  [[nodiscard]] JudgedJobs evaluate(const model::Certificate& certificate,
                                    const model::Placement& placement) const;
  void expect_usable(const model::Certificate& certificate) const;

  const comm::Communicator& comm_;
  model::InstanceView instance_;
  model::Objective objective_;
  std::span<const JobId> jobs_;
  certify::JobFacts facts_;  ///< of all ranks' jobs; on every rank
};

}  // namespace berth::pipeline
