// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "berth/io/profiles_file.hpp"
#include "berth/model/instance.hpp"
#include "berth/sim/simulate.hpp"

namespace berth::sim {

/// Writes jobs.jsonl, series.csv, plots, failures.jsonl (if any) and summary.json into a folder,
/// which is made. Each file replaces an earlier one whole; the summary, with the digest of
/// jobs.jsonl, is the last. The digest and all files are functions of the run alone. Returns the
/// summary. @throws SystemError
model::RunSummary write_run(const std::string& folder, const model::Instance& instance,
                            const Run& run, const std::string& policy,
                            const std::map<std::string, std::string>& options,
                            const std::vector<io::MachineFailure>& failures = {});

/// The figures as a table, one a line.
std::string summary_table(const model::RunSummary& summary);

}  // namespace berth::sim
