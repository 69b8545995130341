// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "berth/model/instance.hpp"

namespace berth::io {

/// Reads jobs in JSON lines (docs/formats.md): one job a line, blank lines skipped, any order of
/// keys. Adds GPU types that no machine has to `cluster.gpu_types`, so that the planner can report
/// why such a job is unplaced; `speeds` has a column for each. `file` names the text in messages.
/// @throws InputError with line and field: broken JSON, unknown or repeated keys, ids given twice,
///         numbers out of range, racks, pods and queues that do not exist
/// O(text), memory O(jobs) beyond the text.
model::Workload parse_jobs(std::string_view text, const std::string& file, model::Cluster& cluster);

/// The jobs as JSON lines with only the values that differ from the defaults; parse_jobs of the
/// text gives equal jobs (instance_digest).
std::string jobs_text(const model::Instance& instance);

model::Workload read_jobs(const std::string& path, model::Cluster& cluster);
void write_jobs(const std::string& path, const model::Instance& instance);

/// The keys of time that an instance has, in words, for a plan of one moment, which ignores them;
/// empty: none. O(rows of tables)
std::string keys_of_time(const model::Cluster& cluster, const model::WorkloadTables& tables);

/// Line number of a job in the file, 1-based; 0 when the file has fewer jobs. Reads the file up to
/// that line.
std::int64_t line_of(const std::string& path, JobId job);

/// Reads both files of an instance.
model::Instance read_instance(const std::string& cluster_path, const std::string& jobs_path);

}  // namespace berth::io
