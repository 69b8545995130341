// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options.hpp"
#include "pricing.hpp"

#include <span>
#include <vector>

#include "berth/model/instance.hpp"

namespace berth::certify {

/// The best each of some jobs can do.
struct JobBests {
  std::vector<JobBest> best;  ///< one a job, in the order given
  bool integral = true;       ///< every value of every option is an integer
};

/// @pre none of the jobs is pinned
JobBests job_bests(const Pricing& pricing, std::span<const JobId> jobs);

}  // namespace berth::certify
