// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/papers/sjf_bco/ring_batch.hpp"

namespace berth::papers {

struct BerthBatchOptions {
  std::int32_t rounds = 400;  ///< changes tried, >= 0
  std::uint64_t seed = 1;
};

/// Berth's way with a batch of gangs: lists of jobs, largest first, in which smaller jobs pass
/// those that do not fit; a job goes to the server that it fills best, or over the fewest servers.
/// A local search then moves jobs in the list and lets some wait for one server rather than be
/// split; every trial is run against the contention of the model. Ends early at makespan_bound.
/// O((6 + rounds) schedules)
/// @pre every job fits the cluster
RingSchedule berth_batch(const RingBatch& batch, const BerthBatchOptions& options);

}  // namespace berth::papers
