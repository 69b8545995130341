// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "slurm/machines.hpp"

#include <cstdint>
#include <vector>

#include "berth/model/workload.hpp"

namespace berth::io::slurm {

/// Resources of one machine that a running job holds.
struct MachineShare {
  std::size_t machine = 0;  ///< index into ImportedMachines::list
  model::Shape shape;
  std::uint64_t devices = 0;  ///< bit i = GPU i
};

struct RunningSlurmJob {
  const SlurmJob* job = nullptr;
  std::vector<MachineShare> parts;
};

/// Free resources of a machine.
struct NodeRoom {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::vector<std::int32_t> milli;  ///< by GPU

  [[nodiscard]] std::int64_t whole_gpus() const;
};
NodeRoom empty_room(const ImportedMachine& machine);

/// Whether the job holds nodes now: it runs, starts, ends, or is suspended.
bool holds_nodes(const SlurmJob& job);

/// Running jobs in file order, and in `room` the free resources beside them. GPU indices are
/// Slurm's own if it gives them (`gres_detail`); else the lowest free ones after those. No
/// allocation exceeds its machine.
std::vector<RunningSlurmJob> place_running(const Snapshot& snapshot,
                                           const ImportedMachines& machines,
                                           const SlurmImportOptions& options,
                                           std::vector<NodeRoom>& room, Notes& notes);

}  // namespace berth::io::slurm
