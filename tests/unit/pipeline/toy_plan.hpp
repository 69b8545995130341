// SPDX-License-Identifier: Apache-2.0
// Plans of instances written as the files that users write.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/pipeline/plan_cluster.hpp"

namespace berth::pipeline::test {

struct ToyPlan {
  double objective = 0.0;
  /// By job: machines of its tasks, in order of tasks. Jobs that wait are not there.
  std::map<std::string, std::vector<std::string>> machines;

  bool operator==(const ToyPlan&) const = default;
  [[nodiscard]] bool has(const std::string& job) const { return machines.contains(job); }
};

inline ToyPlan toy_plan(const std::string& cluster, const std::string& jobs,
                        const PlanOptions& options = {}) {
  model::Instance instance{.cluster = io::parse_cluster(cluster, "cluster.yaml"), .workload = {}};
  instance.workload = io::parse_jobs(jobs, "jobs.jsonl", instance.cluster);
  report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
  const model::Plan plan = plan_cluster(comm::Communicator::serial(), instance, options, silent);
  ToyPlan found{.objective = plan.figures.objective, .machines = {}};
  for (const model::JobPlacement& p : plan.placements) {
    auto& at = found.machines[std::string(instance.workload.job_names[p.job.index()])];
    for (const auto& t : p.tasks) {
      at.emplace_back(instance.cluster.machine_names[t.machine.index()]);
    }
  }
  return found;
}

}  // namespace berth::pipeline::test
