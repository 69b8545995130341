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

/// Broadcasts rank 0's value without these names, a part of it, which stay on rank 0.
template <class T>
void broadcast_without(const Communicator& comm, T& value, NameTable& names) {
  NameTable kept = std::exchange(names, {});
  comm::broadcast(comm, value);
  if (comm.rank() == 0) names = std::move(kept);
}

/// Sends the pinned jobs to all ranks, which need their use of limits.
void send_pinned_jobs(const Communicator& comm, model::Workload& workload) {
  coordinator::JobRecords records(comm, workload);
  records.scatter([&] {
    return records.only_home(
        coordinator::JobLists(static_cast<std::size_t>(comm.size()), model::pinned_jobs(workload)));
  });
}

void distribute_workload(const Communicator& comm, model::Workload& workload) {
  model::JobTitles titles = std::exchange(workload.titles, {});
  broadcast_without<model::WorkloadTables>(comm, workload, workload.job_names);
  workload.titles = std::move(titles);
  send_pinned_jobs(comm, workload);
}

/// A part of `jobs` jobs, without records.
model::JobSet no_records(std::size_t jobs) {
  model::JobSet none;
  none.position.assign(jobs, model::JobSet::kMissing);
  return none;
}

}  // namespace

void distribute(const Communicator& comm, model::Instance& instance) {
  if (comm.size() == 1) return;
  broadcast_without(comm, instance.cluster, instance.cluster.machine_names);
  auto jobs = static_cast<std::uint64_t>(instance.workload.size());
  comm.broadcast_value(jobs);
  if (comm.rank() != 0) {
    static_cast<model::JobSet&>(instance.workload) = no_records(static_cast<std::size_t>(jobs));
  }
  distribute_workload(comm, instance.workload);
}

void distribute_rest(const Communicator& comm, model::Instance& instance) {
  if (comm.size() == 1) return;
  if (comm.rank() != 0) instance.cluster.machine_names = {};
  comm::broadcast(comm, instance.cluster.gpu_types);
  comm::broadcast(comm, instance.cluster.immovable);
  comm::broadcast(comm, instance.cluster.windows);
  distribute_workload(comm, instance.workload);
}

void distribute_cluster(const Communicator& comm, model::Cluster& cluster) {
  comm::broadcast(comm, cluster);
}

}  // namespace berth::pipeline
