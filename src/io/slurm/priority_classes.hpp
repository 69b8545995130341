// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "slurm/pending_jobs.hpp"
#include "slurm/snapshot.hpp"

#include <cstdint>
#include <vector>

namespace berth::io::slurm {

/// Classes of priority of the pending jobs, by position: 0 is the lowest. One for each pair of
/// partition tier and QOS if these are at most `most`, else quantiles of Slurm's priority. A job is
/// in the highest tier of its partitions; within a tier the QOS whose jobs have the larger highest
/// priority is above. O(jobs log jobs)
std::vector<std::int32_t> priority_classes(const std::vector<PendingJob>& jobs,
                                           const std::vector<Partition>& partitions,
                                           std::int32_t most);

}  // namespace berth::io::slurm
