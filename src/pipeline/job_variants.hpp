// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/model/instance.hpp"
#include "berth/pipeline/horizon_changes.hpp"

namespace berth::pipeline {

/// A job with one change, as one more job of the instance.
struct JobVariant {
  JobId id;
  TimedChange change;  ///< kind, and what the kind has
};

/// Adds variants of a waiting job: as it is (`none` first), wider domains, other GPU types, fewer
/// tasks, without quotas, without licenses, without its deadline. They wait for the same jobs and
/// may use the same reservations. O(windows + tasks)
std::vector<JobVariant> add_variants(model::Instance& instance, JobId job);

}  // namespace berth::pipeline
