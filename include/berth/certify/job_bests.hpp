// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/certify/job_facts.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/resources.hpp"

namespace berth::certify {

/// Largest gain of a job over being unplaced or stopped, in units of 2^-scale_log2: net of prices,
/// max_k [u_jk - C_jk] - out_j in the terms of bound.hpp, and before prices. Empty when no option
/// fits.
struct JobBest {
  std::optional<Int128> net;
  std::optional<Int128> gross;
  /// Where whole jobs are chosen within home racks: net of prices in the home rack, and `net` is of
  /// the other options.
  std::optional<Int128> home = {};
};

/// The tasks of a running job on one of its machines, as an item of that machine's content
/// ("Running jobs" in bound.hpp). Trivially copyable.
struct StayItem {
  MachineId machine;
  JobId job;
  std::int64_t devices = 0;
  model::Resources needs = {};
  Int128 task_prices = 0;  ///< that such tasks pay there, without limits
  Int128 pays = 0;         ///< that they pay if the job stays
};

/// A running job of whole GPUs that may stay where it is.
struct StayOption {
  std::uint32_t index = 0;          ///< of the job in the order given
  std::optional<Int128> elsewhere;  ///< best of the other options, as JobBest::net
  Int128 earns = 0;                 ///< by staying, net of quotas and limits only
  std::vector<StayItem> tasks;      ///< by machine, without `pays`

  [[nodiscard]] Int128 task_prices() const;
};

/// How the bound takes a job that may stay: `others` for the job, and items of its machines that
/// pay what it earns beyond that.
struct StayOffer {
  Int128 others = 0;
  std::vector<StayItem> items;
};

/// @param must  the job is required and placed
/// @return nothing where staying is not the job's best option: then its machines earn no more
std::optional<StayOffer> stay_offer(const StayOption& stay, bool must);

/// The options' contribution of some jobs to bound and gap.
struct JobBests {
  std::vector<JobBest> best;  ///< one per job, in the order given
  bool integral = true;       ///< every value of every option is an integer
  /// Ascending index. Empty where jobs have prices of their own.
  std::vector<StayOption> stays = {};
};

/// Computes each job by itself, so results of disjoint parts can be joined and the work divided.
/// Prices of jobs and the tree are ignored.
/// @param jobs   of the instance, none of them pinned
/// @param facts  of all jobs: exclusive jobs pay what their machines could earn
/// @pre unusable(...) of bound.hpp is empty for all jobs
/// O(P log P + S P + J T) as in bound.hpp, with J and S of these jobs.
JobBests job_bests(const model::InstanceView& instance, model::Objective objective,
                   const model::Certificate& certificate, const JobFacts& facts,
                   std::span<const JobId> jobs);

/// A job with GPUs, chosen or not by the bound. Trivially copyable.
struct JobChoice {
  JobId job;
  /// best option net of prices, in units of 2^-scale_log2; within home racks the gain over it by
  /// being there
  Int128 net = 0;
  std::int64_t milli = 0;  ///< GPU thousandths
  QueueId queue;
  RackId home;
  bool must = false;  ///< is chosen
};

/// Sums over jobs in the bound, in units of 2^-scale_log2: required placed jobs count fully, others
/// only if positive.
struct JobTerms {
  Int128 net = 0;    ///< net of prices; without jobs that have a price of their own
  Int128 gross = 0;  ///< before prices; all jobs
  bool integral = true;
  std::vector<JobChoice> choices = {};  ///< with Certificate::whole_jobs: not in `net`
  std::vector<StayItem> stays = {};     ///< in any order; what they pay is not in `net`

  JobTerms& operator+=(const JobTerms& others);
};

/// @param bests            of these jobs at the certificate's prices
/// @param required_placed  all required placed jobs among these; other ids are ignored
JobTerms job_terms(const model::InstanceView& instance, const model::Certificate& certificate,
                   std::span<const JobId> jobs, const JobBests& bests,
                   std::span<const JobId> required_placed);

}  // namespace berth::certify
