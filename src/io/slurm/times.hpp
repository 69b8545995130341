// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job_line.hpp"
#include "slurm/pending_jobs.hpp"
#include "slurm/running.hpp"

#include <cstdint>
#include <string>
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

/// A reservation as a window of machines.
struct ReservedTime {
  const Reservation* reservation = nullptr;
  std::vector<std::size_t> machines;  ///< indices into ImportedMachines::list, ascending
};

/// Reservations that have not ended. Machines that Slurm shows as kept only for them are up outside
/// the windows. Machines of a reservation that has begun while jobs without it run there have no
/// window and stay reserved.
std::vector<ReservedTime> reserved_times(const Snapshot& snapshot, std::int64_t now,
                                         ImportedMachines& machines, Notes& notes);

/// Windows of the cluster, for the jobs that run in the reservations.
std::vector<model::Window> windows_of(const std::vector<ReservedTime>& times,
                                      const Snapshot& snapshot);

/// Sets limit, expected duration, begin and arrival of a waiting job, but not the jobs before it.
void set_times(const SlurmJob& job, const SlurmImportOptions& options, JobLine& line);

/// Sets start, limit and expected duration of a running job, which ends before its machines are
/// reserved for others.
void set_times(const RunningSlurmJob& running, const std::vector<ReservedTime>& reserved,
               const SlurmImportOptions& options, JobLine& line, Notes& notes);

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
