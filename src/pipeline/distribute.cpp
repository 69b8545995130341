// SPDX-License-Identifier: Apache-2.0
#include "berth/pipeline/distribute.hpp"

#include <cstdint>
#include <utility>

#include "berth/comm/messages.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/model/limit_table.hpp"

namespace berth::pipeline {
namespace {

using comm::Communicator;

/// Sends the workload without jobs and names.
void broadcast_tables(const Communicator& comm, model::Workload& workload) {
  comm.broadcast_vector(workload.shapes);
  comm.broadcast_vector(workload.factors);
  comm.broadcast_vector(workload.speeds);
  comm.broadcast_value(workload.speed_types);
  comm::broadcast(comm, workload.labels);
  comm.broadcast_vector(workload.running);
  comm.broadcast_vector(workload.running_tasks);
}

/// Sends the pinned jobs to all ranks, which need their use of limits.
void send_pinned_jobs(const Communicator& comm, model::Workload& workload) {
  std::vector<JobId> pinned;
  for (const model::Running& r : workload.running) {
    if (r.pinned) pinned.push_back(r.job);
  }
  coordinator::JobRecords records(comm, workload);
  records.scatter([&] {
    return records.only_home(coordinator::JobLists(static_cast<std::size_t>(comm.size()), pinned));
  });
}

void distribute_workload(const Communicator& comm, model::Workload& workload) {
  if (comm.rank() != 0) workload.job_names = {};
  broadcast_tables(comm, workload);
  send_pinned_jobs(comm, workload);
}

void forget_jobs(model::Workload& workload, std::size_t jobs) {
  workload.jobs = {};
  workload.groups = {};
  workload.position.assign(jobs, model::Workload::kMissing);
}

}  // namespace

void distribute(const Communicator& comm, model::Instance& instance) {
  if (comm.size() == 1) return;
  NameTable names = std::exchange(instance.cluster.machine_names, {});
  comm::broadcast(comm, instance.cluster);
  if (comm.rank() == 0) instance.cluster.machine_names = std::move(names);
  auto jobs = static_cast<std::uint64_t>(instance.workload.jobs.size());
  comm.broadcast_value(jobs);
  if (comm.rank() != 0) forget_jobs(instance.workload, static_cast<std::size_t>(jobs));
  distribute_workload(comm, instance.workload);
}

void distribute_rest(const Communicator& comm, model::Instance& instance) {
  if (comm.size() == 1) return;
  if (comm.rank() != 0) instance.cluster.machine_names = {};
  comm::broadcast(comm, instance.cluster.gpu_types);
  comm::broadcast(comm, instance.cluster.immovable);
  distribute_workload(comm, instance.workload);
}

void distribute_cluster(const Communicator& comm, model::Cluster& cluster) {
  comm::broadcast(comm, cluster);
}

}  // namespace berth::pipeline
