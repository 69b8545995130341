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
};

/// The state as JSON, docs/formats.md.
std::string state_text(const model::Instance& instance,
                       const std::vector<const PendingJob*>& planned,
                       const SlurmImportOptions& options);
ImportState read_state(const Source& source);

}  // namespace berth::io::slurm
