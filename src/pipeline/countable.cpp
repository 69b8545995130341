// SPDX-License-Identifier: Apache-2.0
#include "distributed_judge.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "berth/base/error.hpp"
#include "berth/certify/bound.hpp"
#include "berth/certify/priority_classes.hpp"
#include "berth/comm/messages.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/pipeline/plan_cluster.hpp"

namespace berth::pipeline {
namespace {

struct LargestValue {
  double value = -1.0;
  JobId job;
};

/// Value before factors and speeds.
double base_value(const model::WorkloadView& workload, const model::Job& job) {
  const double gpus = static_cast<double>(workload.gpu_milli(job)) / model::kGpuMilli;
  double value = std::isnan(job.value) ? job.weight * gpus : job.value;
  if (const model::Running* running = workload.running_of(job)) {
    value = std::max({value, running->stop_cost, running->move_cost});
  }
  return value;
}

/// The largest value over all ranks, on rank 0; ties: the first job.
LargestValue largest(const comm::Communicator& comm, const model::WorkloadView& workload,
                     const std::vector<JobId>& mine) {
  LargestValue here;
  for (const JobId job : mine) {
    const double value = base_value(workload, workload.job(job));
    if (value > here.value) here = {value, job};
  }
  LargestValue all;
  for (const LargestValue& one : comm.gather_varying<LargestValue>(std::span(&here, 1))) {
    const bool first = one.value == all.value && one.job < all.job;
    if (one.value > all.value || first) all = one;
  }
  return all;
}

using FirstJobs = std::map<std::int32_t, JobId>;  ///< by priority: the first job

}  // namespace

void expect_few_priorities(const comm::Communicator& comm, const model::InstanceView& instance,
                           const coordinator::JobRecords& jobs, const std::string& jobs_path) {
  FirstJobs mine, all;
  for (const JobId job : jobs.home_jobs()) {
    mine.try_emplace(instance.workload.job(job).priority, job);
  }
  for (const FirstJobs& one : comm::gather<FirstJobs>(comm, std::span(&mine, 1))) {
    for (const auto& [priority, job] : one) {
      JobId& first = all.try_emplace(priority, job).first->second;
      first = std::min(first, job);
    }
  }
  comm.agreed_on_root([&] {
    if (all.size() <= certify::kMostPriorityClasses) return;
    std::vector<JobId> firsts;
    for (const auto& [priority, job] : all) firsts.push_back(job);
    std::ranges::sort(firsts);
    const JobId beyond = firsts[certify::kMostPriorityClasses];
    throw InputError(
        {.file = jobs_path,
         .line = jobs_path.empty() ? 0 : io::line_of(jobs_path, beyond),
         .field = "priority"},
        fmt::format("the jobs have {} different priorities, an order by priority has at most {}; "
                    "this is the first beyond",
                    all.size(), certify::kMostPriorityClasses),
        "give jobs that rank alike the same priority (berth import slurm --priority-classes "
        "16 does), or plan with --order value");
  });
}

void expect_countable(const comm::Communicator& comm, const model::InstanceView& instance,
                      model::Objective objective, const coordinator::JobRecords& jobs,
                      const std::string& jobs_path) {
  const std::vector<JobId> home = jobs.home_jobs();
  const DistributedJudge judge(comm, instance, objective, home);
  bool countable = true;
  comm.agreed_on_root(
      [&] { countable = certify::unusable(instance, objective, {}, judge.facts()).empty(); });
  comm.broadcast_value(countable);
  if (countable) return;
  const LargestValue most = largest(comm, instance.workload, home);
  comm.agreed_on_root([&] {
    throw InputError({.file = jobs_path, .line = io::line_of(jobs_path, most.job), .field = ""},
                     fmt::format("all jobs together are worth more than can be counted exactly; "
                                 "this one is worth most: {:.6g}",
                                 most.value),
                     "give weights and values in larger units");
  });
}

}  // namespace berth::pipeline
