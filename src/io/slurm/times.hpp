// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job_line.hpp"
#include "slurm/running.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace berth::io::slurm {

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

}  // namespace berth::io::slurm
