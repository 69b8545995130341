// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "slurm/machines.hpp"

#include <string>
#include <vector>

#include "berth/model/workload.hpp"

namespace berth::io::slurm {

/// What a waiting job asks for, in Berth's words.
struct Gang {
  struct TaskRequest {
    std::string label;
    model::Shape shape;
    std::int32_t count = 1;
  };
  std::vector<TaskRequest> groups;
  std::string gpu_type;  ///< as Slurm names it; empty: any
  std::string left;      ///< why it stays with Slurm; empty: it can be planned

  [[nodiscard]] bool uses_gpu() const;
  [[nodiscard]] std::int64_t tasks() const;
};

/// Slurm tells a job as nodes, tasks, CPUs and generic resources by node, socket, task or job.
/// Task by task when GPUs are asked for by task, or nothing is said of nodes; otherwise node by
/// node. `--gpus N` is dealt out evenly: over the nodes when their number is given, else over the
/// tasks. A job alone on its nodes takes all of `whole`.
///
/// Memory counts when Slurm hands it out. When that is not known, only what a job asks for counts:
/// Slurm's own figure for a job that asks for none is all of a node's.
Gang gang_of(const SlurmJob& job, const ImportedMachines& machines, const ImportedMachine* whole,
             std::optional<bool> memory_counts, Notes& notes);

/// Nodes the user asked for; Slurm's own guess while he did not.
std::int64_t requested_nodes(const SlurmJob& job);

}  // namespace berth::io::slurm
