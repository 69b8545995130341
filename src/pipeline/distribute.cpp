// SPDX-License-Identifier: Apache-2.0
#include "berth/pipeline/distribute.hpp"

#include <cstdint>
#include <utility>

#include "berth/coordinator/job_records.hpp"
#include "berth/model/limit_table.hpp"

namespace berth::pipeline {
namespace {

using comm::Communicator;

void send(const Communicator& comm, NameTable& names) {
  std::string characters = names.characters();
  std::vector<std::uint64_t> ends = names.ends();
  comm.broadcast_string(characters);
  comm.broadcast_vector(ends);
  if (comm.rank() != 0) names = NameTable::from_columns(std::move(characters), std::move(ends));
}

/// Sends separate strings as one table.
void send(const Communicator& comm, std::vector<std::string>& names) {
  NameTable table;
  for (const std::string& name : names) table.add(name);
  send(comm, table);
  names.resize(table.size());
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = table[i];
}

/// Gives every rank as many records as rank 0 has, with its names.
template <class Record>
void send_names(const Communicator& comm, std::vector<Record>& records) {
  std::vector<std::string> names;
  for (const Record& record : records) names.push_back(record.name);
  send(comm, names);
  records.resize(names.size());
  for (std::size_t i = 0; i < records.size(); ++i) records[i].name = std::move(names[i]);
}

/// Sends the limits of all racks, or of all pods, in the order of kLimitRows.
template <class Domain>
void send_limits(const Communicator& comm, std::vector<Domain>& domains) {
  std::vector<double> limits;
  for (const Domain& domain : domains) {
    for_each_limit(domain, [&](const auto&, double limit) { limits.push_back(limit); });
  }
  comm.broadcast_vector(limits);
  auto next = limits.begin();
  for (Domain& domain : domains) {
    for_each_limit(domain, [&](const auto&, double& limit) { limit = *next++; });
  }
}

struct ClassColumns {
  GpuTypeId gpu_type;
  std::int32_t gpus, gpu_slices;
  model::Resources capacity;
};

void send_classes(const Communicator& comm, std::vector<model::MachineClass>& classes) {
  std::vector<std::string> names;
  std::vector<ClassColumns> columns;
  for (const auto& c : classes) {
    names.push_back(c.name);
    columns.push_back({c.gpu_type, c.gpus, c.gpu_slices, c.capacity});
  }
  send(comm, names);
  comm.broadcast_vector(columns);
  classes.resize(names.size());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const ClassColumns& c = columns[i];
    classes[i] = {names[i], c.gpu_type, c.gpus, c.capacity, c.gpu_slices};
  }
}

void send_racks(const Communicator& comm, std::vector<model::Rack>& racks) {
  std::vector<PodId> pods;
  for (const auto& rack : racks) pods.push_back(rack.pod);
  send_names(comm, racks);
  comm.broadcast_vector(pods);
  for (std::size_t r = 0; r < racks.size(); ++r) racks[r].pod = pods[r];
  send_limits(comm, racks);
}

void send_queues(const Communicator& comm, std::vector<model::Queue>& queues) {
  std::vector<QueueId> parents;
  std::vector<std::int64_t> quotas;
  std::vector<double> penalties;
  for (const auto& queue : queues) {
    parents.push_back(queue.parent);
    quotas.push_back(queue.gpu_quota);
    penalties.push_back(queue.over_quota_penalty);
  }
  send_names(comm, queues);
  comm.broadcast_vector(parents);
  comm.broadcast_vector(quotas);
  comm.broadcast_vector(penalties);
  for (std::size_t q = 0; q < queues.size(); ++q) {
    queues[q].parent = parents[q];
    queues[q].gpu_quota = quotas[q];
    queues[q].over_quota_penalty = penalties[q];
  }
}

void send_cluster(const Communicator& comm, model::Cluster& cluster) {
  send(comm, cluster.gpu_types);
  send_classes(comm, cluster.classes);
  send_names(comm, cluster.pods);
  send_limits(comm, cluster.pods);
  send_racks(comm, cluster.racks);
  send_queues(comm, cluster.queues);
  comm.broadcast_vector(cluster.machine_class);
  comm.broadcast_vector(cluster.machine_rack);
  comm.broadcast_vector(cluster.machine_state);
  comm.broadcast_vector(cluster.immovable);
}

/// Sends the workload without jobs and names.
void send_tables(const Communicator& comm, model::Workload& workload) {
  comm.broadcast_vector(workload.shapes);
  comm.broadcast_vector(workload.factors);
  comm.broadcast_vector(workload.speeds);
  comm.broadcast_value(workload.speed_types);
  send(comm, workload.labels);
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

void forget_jobs(model::Workload& workload, std::size_t jobs) {
  workload.jobs = {};
  workload.groups = {};
  workload.position.assign(jobs, model::Workload::kMissing);
}

}  // namespace

void distribute(const Communicator& comm, model::Instance& instance) {
  if (comm.size() == 1) return;
  auto jobs = static_cast<std::uint64_t>(instance.workload.jobs.size());
  comm.broadcast_value(jobs);
  if (comm.rank() != 0) forget_jobs(instance.workload, static_cast<std::size_t>(jobs));
  distribute_rest(comm, instance);
}

void distribute_rest(const Communicator& comm, model::Instance& instance) {
  if (comm.size() == 1) return;
  if (comm.rank() != 0) instance.cluster.machine_names = instance.workload.job_names = {};
  send_cluster(comm, instance.cluster);
  send_tables(comm, instance.workload);
  send_pinned_jobs(comm, instance.workload);
}

void distribute_cluster(const Communicator& comm, model::Cluster& cluster) {
  if (comm.size() == 1) return;
  send_cluster(comm, cluster);
  send(comm, cluster.machine_names);
}

}  // namespace berth::pipeline
