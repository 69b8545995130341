// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/job_set.hpp"

namespace berth::coordinator {

/// Records of jobs as a message: per job its id, its record and its task groups, about 120 B.
using PackedJobs = std::vector<std::uint32_t>;

/// Appends a job to the message.

void pack_job(PackedJobs& words, JobId id, const model::Job& job,
              std::span<const model::TaskGroup> groups);

/// Adds the jobs of a message to a part; does not change jobs that the part already has.
void unpack_jobs(std::span<const std::uint32_t> words, model::JobSet& part);

/// Reserves memory for exactly this many more jobs: a vector that doubles would need three times
/// the records.
void reserve_jobs(model::JobSet& part, std::size_t jobs);

}  // namespace berth::coordinator
