// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "slurm/pending_jobs.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace berth::io::slurm {

/// State of the import that `berth apply slurm` needs to tell whether the plan still holds.
struct ImportState {
  std::string instance_digest;
  std::string cpu_as_gpu;
  std::unordered_map<std::string, Request> jobs;  ///< each planned job's request, by name
  std::vector<std::string> pinned;                ///< waiting jobs that an earlier apply pinned
};

/// Waiting jobs of the partitions to be planned that an earlier `apply` pinned, by name.
std::vector<std::string> pinned_jobs(const Snapshot& snapshot, const SlurmImportOptions& options);

/// The state as JSON, docs/formats.md.
std::string state_text(const model::Instance& instance,
                       const std::vector<const PendingJob*>& planned,
                       const std::vector<std::string>& pinned, const SlurmImportOptions& options);
ImportState read_state(const Source& source);

}  // namespace berth::io::slurm
