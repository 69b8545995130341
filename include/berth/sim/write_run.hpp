// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "berth/io/profiles_file.hpp"
#include "berth/model/instance.hpp"
#include "berth/sim/berth_policy.hpp"
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

/// Writes the rounds of prices of `berth` to rounds.csv in the folder, which is made; without
/// rounds, removes the file of an earlier run. Columns: seconds (of the axis of `arrival`), jobs,
/// evaluations, cost, bound, gap = 1 - bound / cost. @throws SystemError
void write_rounds(const std::string& folder, const std::vector<PriceRound>& rounds);

/// The figures as a table, one a line.
std::string summary_table(const model::RunSummary& summary);

}  // namespace berth::sim
