// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "slurm/pending_jobs.hpp"
#include "slurm/running.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace berth::io::slurm {

/// Jobs that must have ended before a job begins: "17", "17_3"; an array's id stands for all its
/// tasks.
struct SlurmDependency {
  std::vector<std::string> after;
  /// They are all that the job waits for, and it waits for their end: afterok and afterany. Whether
  /// a job will succeed is not known.
  bool expressible = true;
};
SlurmDependency dependency_of(const std::string& text);

/// Looks up the jobs that waiting jobs wait for. Jobs that wait for one that is not planned are
/// removed and counted in `left`.
class JobsBefore {
 public:
  JobsBefore(const Snapshot& snapshot, std::vector<PendingJob>& waiting,
             const std::vector<RunningSlurmJob>& running, Notes& left);

  /// Names of the jobs before this one; valid as long as this object.
  [[nodiscard]] std::vector<std::string_view> of(const SlurmJob& job) const;

 private:
  void list_names(const Snapshot& snapshot, const std::vector<PendingJob>& waiting,
                  const std::vector<RunningSlurmJob>& running);
  [[nodiscard]] bool are_planned(const SlurmJob& job) const;

  /// Jobs of the file by what a dependency calls them; an empty list: some tasks are not planned.
  std::unordered_map<std::string, std::vector<std::string>> names_;
};

}  // namespace berth::io::slurm
