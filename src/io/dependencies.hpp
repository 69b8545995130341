// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/base/name_table.hpp"
#include "berth/io/job_blocks.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/time_rules.hpp"

namespace berth::io {

/// Names of all jobs of a file, with the line of each.
struct NamedJobs {
  const NameTable& names;                   ///< by JobId, distinct
  const std::vector<std::uint32_t>& lines;  ///< by JobId
  const std::string& file;
};

/// Looks up the jobs that must end before others, and those for which windows are reserved; a
/// window may name jobs that the file does not have. @throws InputError with the line of the job:
/// an unknown job in "after", jobs that wait for one another. O(jobs + dependencies) if there is
/// any such name, else O(windows)
/// @param resolved  ascending, distinct
/// Returns a note for each window that names unknown jobs.
std::vector<std::string> resolve_job_names(
    const NamedJobs& jobs, std::span<const BlockTables::NamedDependency> dependencies,
    std::vector<model::Dependency>& resolved, std::vector<model::Window>& windows);

}  // namespace berth::io
