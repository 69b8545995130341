// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/model/instance.hpp"
#include "berth/model/run_record.hpp"

namespace berth::io {

/// Files of a folder run/ (docs/simulate.md).
inline constexpr std::string_view kRunJobs = "jobs.jsonl";
inline constexpr std::string_view kRunFailures = "failures.jsonl";  ///< only if there are some
inline constexpr std::string_view kRunSummary = "summary.json";

/// The record of one job as a JSON line.
std::string run_record_line(const model::Instance& instance, const model::JobRecord& record);

/// The records of a run, one a line. @throws InputError with line and field: broken JSON, names
/// that the instance lacks, numbers out of range
std::vector<model::JobRecord> parse_run_records(std::string_view text, const std::string& file,
                                                const model::Instance& instance);

std::string run_summary_text(const model::RunSummary& summary);
model::RunSummary parse_run_summary(std::string_view text, const std::string& file);

}  // namespace berth::io
