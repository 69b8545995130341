// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"

namespace berth::certify {

/// The best a job can do beyond being left out or stopped, in units of 2^-scale_log2: net of
/// prices, max_k [u_jk - C_jk] - out_j in the terms of bound.hpp, and before prices. Empty when no
/// option fits.
struct JobBest {
  std::optional<Int128> net;
  std::optional<Int128> gross;
};

/// All that bound and gap need to know of some jobs' options.
struct JobBests {
  std::vector<JobBest> best;  ///< one a job, in the order given
  bool integral = true;       ///< every value of every option is an integer
};

/// Each job by itself, so those of some jobs and those of others side by side are those of all: the
/// work may be shared out. Prices of jobs and the tree are not looked at.
/// @param jobs  of the instance, none of them pinned
/// @pre unusable(...) of bound.hpp is empty for all jobs
/// O(P log P + S P + J T) as in bound.hpp, with J and S of these jobs.
JobBests job_bests(const model::Instance& instance, model::Objective objective,
                   const model::Certificate& certificate, std::span<const JobId> jobs);

/// The sums over jobs in the bound, in units of 2^-scale_log2: those of required jobs that are
/// placed as they are, else 0 where less. Trivially copyable.
struct JobTerms {
  Int128 net = 0;    ///< without jobs that have a price of their own
  Int128 gross = 0;  ///< of all
  bool integral = true;

  JobTerms& operator+=(const JobTerms& others);
};

/// @param bests            of these jobs at the certificate's prices
/// @param required_placed  all of these jobs that are; others are nothing
JobTerms job_terms(const model::Instance& instance, const model::Certificate& certificate,
                   std::span<const JobId> jobs, const JobBests& bests,
                   std::span<const JobId> required_placed);

}  // namespace berth::certify
