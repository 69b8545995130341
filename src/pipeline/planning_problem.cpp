// SPDX-License-Identifier: Apache-2.0
#include "planning_problem.hpp"

#include "digests.hpp"
#include "online.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::pipeline {
namespace {

using comm::Communicator;

/// Whether any job communicates: each rank checks the jobs that it has. Collective.
planner_model::JobTraffic any_rank_communicates(const Communicator& comm,
                                                const model::InstanceView& instance) {
  const bool some =
      planner_model::job_traffic_of(instance.workload) == planner_model::JobTraffic::some;
  return comm.max(some ? 1 : 0) == 1 ? planner_model::JobTraffic::some
                                     : planner_model::JobTraffic::none;
}

planner_model::LimitGroups agreed_groups(const Communicator& comm,
                                         const model::InstanceView& instance,
                                         const planner_model::CouplingLimits& limits,
                                         const coordinator::JobRecords& jobs) {
  planner_model::LimitGroups groups(instance, limits);
  std::vector<planner_model::LimitGroups::Demand> demands(groups.size());
  const auto all =
      comm.all_gather_varying<planner_model::LimitGroups::Demand>(groups.demands(jobs.home_jobs()));
  for (std::size_t i = 0; i < all.size(); ++i) demands[i % demands.size()].add(all[i]);
  groups.set_demands(demands);
  return groups;
}

model::Level agreed_level(const Communicator& comm, const model::InstanceView& instance,
                          model::Objective objective) {
  const bool racks = planner_model::pool_level(instance, objective) == model::Level::rack;
  return comm.max(racks ? 1 : 0) == 1 ? model::Level::rack : model::Level::pod;
}

/// GPUs: one shard of this size takes seven times the time of 32 (docs/benchmarks.md).
constexpr std::int64_t kMostGpusOfOneShard = 131'072;
/// Share of the devices of running jobs that may move. Chosen, not tuned.
constexpr double kFewSpan = 0.25;

/// True when the running jobs that may move are mostly of one shard each.
bool keep_running_jobs_whole(const model::WorkloadTables& tables, const partition::Shards& shards) {
  std::int64_t all = 0, spanning = 0;
  for (const model::Running& running : tables.running) {
    const auto tasks = tables.tasks_of(running);
    if (running.pinned || tasks.empty()) continue;
    std::int64_t devices = 0;
    for (const model::TaskPlacement& task : tasks) devices += std::popcount(task.devices);
    const auto shard = [&](const model::TaskPlacement& task) {
      return shards.of_machine[task.machine.index()];
    };
    const bool whole = std::ranges::all_of(
        tasks, [&](const model::TaskPlacement& task) { return shard(task) == shard(tasks[0]); });
    all += devices;
    spanning += whole ? 0 : devices;
  }
  return static_cast<double>(spanning) <= kFewSpan * static_cast<double>(all);
}

/// One shard where limits couple many running jobs that would span several: no shard could move
/// these, and what they use of the limits would be no other job's.
partition::Shards shards_of(const model::InstanceView& instance,
                            const planner_model::CouplingLimits& limits,
                            const partition::PartitionOptions& options) {
  const model::Cluster& cluster = instance.cluster;
  partition::Shards shards = partition::split(cluster, options);
  if (options.shards > 0 || limits.empty() || cluster.gpus() > kMostGpusOfOneShard ||
      keep_running_jobs_whole(instance.workload.tables(), shards)) {
    return shards;
  }
  return partition::split(cluster, {.shards = 1});
}

}  // namespace

PlanningProblem::PlanningProblem(const Communicator& comm, const model::InstanceView& instance,
                                 const PlanOptions& options, Stages& stages,
                                 coordinator::JobRecords& jobs)
    : unpriced_(instance, options.objective),
      limits_(instance, options.objective, any_rank_communicates(comm, instance)),
      limit_groups_(agreed_groups(comm, instance, limits_, jobs)),
      pools_(planner_model::make_pools(instance.cluster,
                                       agreed_level(comm, instance, options.objective))) {
  if (options.online_order) {
    jobs.gather_to_root();
    comm.agreed_on_root([&] { expect_single_tasks(unpriced_); });  // rank 0 has the names
  }
  shards_ =
      stages.run("partition", [&] { return shards_of(instance, limits_, options.partition); });
  owners_ = partition::own(instance.cluster, shards_, comm.size());
  const bool named = !options.checkpoint.file.empty() || !options.checkpoint.resume.empty();
  if (named) digest_ = instance_digest(comm, instance, jobs);
}

PlanningContext PlanningProblem::context(const Communicator& comm, const PlanOptions& options,
                                         Stages& stages, report::ProgressTable& progress,
                                         const StopToken& stop) const {
  return {comm,    unpriced_, limits_, limit_groups_, pools_, shards_,
          owners_, options,   stages,  progress,      stop,   digest_};
}

}  // namespace berth::pipeline
