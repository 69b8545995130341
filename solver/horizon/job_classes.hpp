// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/horizon/problem.hpp"

namespace berth::solver::horizon_plan {

/// Jobs that are nearly the same: one of them stands for `count`.
struct NearlyEqualJobs {
  JobId job;
  std::int64_t count = 1;
};

/// Merges jobs with equal options and costs but for times: durations and the last change of the
/// cost differ by a factor of about 1 + tolerance, releases by about tolerance / 50 of `span`, and
/// tables of costs have about the same shape. For the search of prices only: any prices prove a
/// bound, and the proof is over all jobs. By the first job of each class. O(jobs) hashed.
std::vector<NearlyEqualJobs> merge_similar_jobs(const berth::horizon::Problem& problem,
                                                berth::horizon::Seconds span, double tolerance);

}  // namespace berth::solver::horizon_plan
