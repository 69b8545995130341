// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "slurm/machines.hpp"

#include <string>
#include <vector>

#include "berth/model/workload.hpp"

namespace berth::io::slurm {

/// A waiting job's request as groups of tasks.
struct GangRequest {
  struct TaskRequest {
    std::string label;
    model::Shape shape;
    std::int32_t count = 1;
  };
  std::vector<TaskRequest> groups;
  std::string gpu_type;  ///< Slurm's name of it; empty: any
  /// Most tasks on one machine, and fewest machines with tasks; 0: any number.
  std::int32_t max_tasks_per_machine = 0, min_machines = 0;
  bool exclusive = false;    ///< the machines hold no other job
  bool one_machine = false;  ///< all tasks are on one
  std::string left;        ///< why Berth does not plan the job; empty: it does

  [[nodiscard]] bool uses_gpu() const;
  [[nodiscard]] std::int64_t tasks() const;
};

/// Converts Slurm's description of a job (nodes, tasks, CPUs, and generic resources by node,
/// socket, task or job). Task by task when GPUs are requested by task, or no nodes are; otherwise
/// node by node. Tasks on a limited number of nodes are grouped by node, on the fewest that hold
/// them. `--gpus N` is divided evenly: over the nodes when their number is given, else over the
/// tasks. A job alone on its nodes takes all of `whole`. A task that stands for a node has a
/// machine of its own; other tasks of a job with a number of nodes are on at least so many
/// machines.
///
/// Memory counts when Slurm allocates it. When that is unknown, only explicit requests count,
/// because Slurm records all of a node's memory for a job without a request.
GangRequest gang_of(const SlurmJob& job, const ImportedMachines& machines,
                    const ImportedMachine* whole, std::optional<bool> memory_counts, Notes& notes);

/// Number of nodes the user requested; without a request, Slurm's own estimate.
std::int64_t requested_nodes(const SlurmJob& job);

}  // namespace berth::io::slurm
