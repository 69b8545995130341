// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/workload.hpp"

namespace berth::coordinator {

/// Records of jobs as they travel between ranks: a job's id, its record, its task groups, job after
/// job, about 120 B each.
using PackedJobs = std::vector<std::uint32_t>;

void pack_job(PackedJobs& words, JobId id, const model::Job& job,
              std::span<const model::TaskGroup> groups);

/// Jobs that the part has already are left as they are.
void unpack_jobs(std::span<const std::uint32_t> words, model::Workload& part);

/// Room for so many more, no more: a vector that doubles would need three times the records.
void reserve_jobs(model::Workload& part, std::size_t jobs);

}  // namespace berth::coordinator
