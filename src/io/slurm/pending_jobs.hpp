// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "slurm/gang.hpp"
#include "slurm/node_constraints.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace berth::io::slurm {

/// What a job asks for, as words that two snapshots can be compared by.
using Request = std::vector<std::pair<std::string, std::string>>;
Request request_of(const SlurmJob& job);

/// A waiting job, or one task of a waiting array, that is to be planned.
struct PendingJob {
  SlurmJob job;      ///< with only the partitions it may start in
  Request request;   ///< as the user made it
  std::string name;  ///< as scontrol takes it: "17", "17_3"
  Gang gang;
  std::int32_t constraint = -1;  ///< set of machines; -1: anywhere
};

/// All jobs that wait; each is in the result or counted in `left` by the reason that it stays with
/// Slurm.
std::vector<PendingJob> pending_jobs(const Snapshot& snapshot, const ImportedMachines& machines,
                                     NodeConstraints& constraints,
                                     const SlurmImportOptions& options, Notes& notes, Notes& left);

/// "17", or "17_3" for one task of an array.
std::string job_name(const SlurmJob& job);

/// Indices of an array's tasks, "3-4,9%2" or "0-8:4"; nothing when the text is cut off or broken.
std::vector<std::int64_t> array_tasks(const std::string& text);

}  // namespace berth::io::slurm
