// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job_line.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/model/cluster.hpp"
#include "berth/model/workload.hpp"

namespace berth::io {

/// Running jobs of a file looked up in the cluster. A job that runs on a machine which takes
/// nothing new is pinned. Pinned jobs become immovable content of their machines.
class RunningTables {
 public:
  RunningTables(model::Cluster& cluster, const std::string& file)
      : cluster_(&cluster), file_(&file) {}

  /// @pre the job's groups are in the workload, and it is its last job
  void add(const JobLine& line, std::int64_t at, model::Workload& workload);

  /// Everything that runs has room on its machine, or throws.
  void finish(const model::Workload& workload);

 private:
  [[noreturn]] void fail(std::int64_t at, const std::string& field, const std::string& problem,
                         const std::string& hint = {}) const;
  MachineId machine(std::string_view name, std::int64_t at, const std::string& field);
  model::TaskPlacement task(const JobLine::RunningTask& task, std::size_t index, std::int64_t at,
                            const model::Workload& workload);
  void check_counts(std::int64_t at, const model::Workload& workload,
                    const model::Running& running) const;
  void check_allowed(std::int64_t at, const model::Workload& workload,
                     const model::Running& running) const;
  void pin(const model::Workload& workload, const model::Running& running);

  model::Cluster* cluster_;
  const std::string* file_;
  std::unordered_map<std::string_view, std::size_t> machines_;  ///< filled on first use
  std::vector<std::int64_t> lines_;                             ///< of the running jobs
};

}  // namespace berth::io
