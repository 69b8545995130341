// SPDX-License-Identifier: Apache-2.0
#include "berth/pipeline/distribute.hpp"

#include <cstdint>
#include <utility>

#include "berth/coordinator/job_records.hpp"

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

/// Names kept as separate strings travel as one table.
void send(const Communicator& comm, std::vector<std::string>& names) {
  NameTable table;
  for (const std::string& name : names) table.add(name);
  send(comm, table);
  names.resize(table.size());
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = table[i];
}

/// Records with a name first: names as a table, the rest by `rest(record)` as one trivially
/// copyable value.
template <class Record, class Rest>
void send_named(const Communicator& comm, std::vector<Record>& records, Rest rest) {
  std::vector<std::string> names;
  std::vector<std::decay_t<decltype(rest(std::declval<Record&>()))>> columns;
  for (Record& record : records) {
    names.push_back(record.name);
    columns.push_back(rest(record));
  }
  send(comm, names);
  comm.broadcast_vector(columns);
  records.resize(names.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].name = std::move(names[i]);
    rest(records[i]) = columns[i];
  }
}

struct ClassColumns {
  GpuTypeId gpu_type;
  std::int32_t gpus, gpu_slices;
  std::int64_t cpu_milli, memory_mib, nic_mbps;
};

void send_classes(const Communicator& comm, std::vector<model::MachineClass>& classes) {
  std::vector<std::string> names;
  std::vector<ClassColumns> columns;
  for (const auto& c : classes) {
    names.push_back(c.name);
    columns.push_back({c.gpu_type, c.gpus, c.gpu_slices, c.cpu_milli, c.memory_mib, c.nic_mbps});
  }
  send(comm, names);
  comm.broadcast_vector(columns);
  classes.resize(names.size());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const ClassColumns& c = columns[i];
    classes[i] = {names[i],     c.gpu_type, c.gpus,      c.cpu_milli,
                  c.memory_mib, c.nic_mbps, c.gpu_slices};
  }
}

void send_racks(const Communicator& comm, std::vector<model::Rack>& racks) {
  std::vector<PodId> pods;
  for (const auto& rack : racks) pods.push_back(rack.pod);
  send_named(comm, racks, [](model::Rack& rack) -> double& { return rack.uplink_gbps; });
  comm.broadcast_vector(pods);
  for (std::size_t r = 0; r < racks.size(); ++r) racks[r].pod = pods[r];
}

void send_queues(const Communicator& comm, std::vector<model::Queue>& queues) {
  std::vector<QueueId> parents;
  std::vector<double> penalties;
  for (const auto& queue : queues) {
    parents.push_back(queue.parent);
    penalties.push_back(queue.over_quota_penalty);
  }
  send_named(comm, queues, [](model::Queue& queue) -> std::int64_t& { return queue.gpu_quota; });
  comm.broadcast_vector(parents);
  comm.broadcast_vector(penalties);
  for (std::size_t q = 0; q < queues.size(); ++q) {
    queues[q].parent = parents[q];
    queues[q].over_quota_penalty = penalties[q];
  }
}

void send_cluster(const Communicator& comm, model::Cluster& cluster) {
  send(comm, cluster.gpu_types);
  send_classes(comm, cluster.classes);
  send_named(comm, cluster.pods, [](model::Pod& pod) -> double& { return pod.uplink_gbps; });
  send_racks(comm, cluster.racks);
  send_queues(comm, cluster.queues);
  comm.broadcast_vector(cluster.machine_class);
  comm.broadcast_vector(cluster.machine_rack);
  comm.broadcast_vector(cluster.machine_state);
  comm.broadcast_vector(cluster.immovable);
}

/// All but jobs and names.
void send_tables(const Communicator& comm, model::Workload& workload) {
  comm.broadcast_vector(workload.shapes);
  comm.broadcast_vector(workload.factors);
  comm.broadcast_vector(workload.speeds);
  comm.broadcast_value(workload.speed_types);
  send(comm, workload.labels);
  comm.broadcast_vector(workload.running);
  comm.broadcast_vector(workload.running_tasks);
}

/// All must know what they take of quotas and uplinks.
void send_pinned_jobs(const Communicator& comm, model::Workload& workload) {
  std::vector<JobId> pinned;
  for (const model::Running& r : workload.running) {
    if (r.pinned) pinned.push_back(r.job);
  }
  const coordinator::JobRecords records(comm, workload);
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
