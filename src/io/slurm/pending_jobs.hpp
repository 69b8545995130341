// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "slurm/gang.hpp"
#include "slurm/node_constraints.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace berth::io::slurm {

/// A job's request as key and value pairs, comparable between two snapshots.
using Request = std::vector<std::pair<std::string, std::string>>;
Request request_of(const SlurmJob& job);

/// A waiting job, or one task of a waiting array, to be planned.
struct PendingJob {
  SlurmJob job;      ///< with only the partitions it may start in
  Request request;   ///< the user's request
  std::string name;  ///< scontrol's name of it: "17", "17_3"
  GangRequest gang;
  std::int32_t constraint = -1;  ///< set of machines; -1: anywhere
};

/// All waiting jobs; each is in the result or counted in `left` by the reason why it is not
/// planned.
std::vector<PendingJob> pending_jobs(const Snapshot& snapshot, const ImportedMachines& machines,
                                     NodeConstraints& constraints,
                                     const SlurmImportOptions& options, Notes& notes, Notes& left);

/// "17", or "17_3" for one task of an array.
std::string job_name(const SlurmJob& job);

/// Indices of an array's tasks, "3-4,9%2" or "0-8:4"; empty when the text is truncated or
/// malformed.
std::vector<std::int64_t> array_tasks(const std::string& text);

}  // namespace berth::io::slurm
