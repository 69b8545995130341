// SPDX-License-Identifier: Apache-2.0
#include "free_index.hpp"

#include <algorithm>
#include <limits>

namespace berth::test {
namespace {

FreeIndex::MachineKey measure(const planner_model::Room& room, MachineId m) {
  return {room.free_milli(m), room.free_cpu(m), m};
}

/// The smallest key of a machine with `milli` free GPU thousandths.
FreeIndex::MachineKey at_least(std::int64_t milli) {
  return {milli, std::numeric_limits<std::int64_t>::min(), MachineId()};
}

std::vector<MachineId> from(const std::set<FreeIndex::MachineKey>& machines, std::int64_t milli) {
  std::vector<MachineId> result;
  for (auto at = machines.lower_bound(at_least(milli)); at != machines.end(); ++at) {
    result.push_back(at->id);
  }
  return result;
}

}  // namespace

std::size_t kind_of(const model::Cluster& cluster, MachineId machine) {
  const GpuTypeId type = cluster.class_of(machine).gpu_type;
  return type.valid() ? type.index() : cluster.gpu_types.size();
}

FreeIndex::FreeIndex(const model::Cluster& cluster, const planner_model::Room& room)
    : cluster_(cluster),
      kinds_(cluster.gpu_types.size() + 1),
      all_(kinds_),
      pods_(cluster.pods.size() * kinds_),
      racks_(kinds_),
      rack_free_(cluster.racks.size() * kinds_),
      pod_free_(cluster.pods.size() * kinds_),
      first_in_rack_(cluster.racks.size() + 1, cluster.machines()) {
  for (std::size_t m = cluster.machines(); m-- > 0;) {
    const MachineId id(m);
    const std::size_t kind = kind_of(cluster, id);
    const RackId rack = cluster.machine_rack[m];
    first_in_rack_[rack.index()] = m;
    rack_free_[rack.index() * kinds_ + kind] += room.free_milli(id);
    pod_free_[cluster.pod_of(id).index() * kinds_ + kind] += room.free_milli(id);
  }
  // an empty rack begins where the next one does
  for (std::size_t r = cluster.racks.size(); r-- > 0;) {
    first_in_rack_[r] = std::min(first_in_rack_[r], first_in_rack_[r + 1]);
  }
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const MachineId id(m);
    const std::size_t kind = kind_of(cluster, id);
    const RackId rack = cluster.machine_rack[m];
    key_.push_back(measure(room, id));
    all_[kind].insert(key_[m]);
    pods_[cluster.pod_of(id).index() * kinds_ + kind].insert(key_[m]);
    racks_[kind].insert({free_in(rack, kind), rack});
  }
}

std::vector<MachineId> FreeIndex::in_cluster(std::size_t kind, std::int64_t milli) const {
  return from(all_[kind], milli);
}

std::vector<MachineId> FreeIndex::in_pod(PodId pod, std::size_t kind, std::int64_t milli) const {
  return from(machines(pod, kind), milli);
}

std::vector<MachineId> FreeIndex::in_rack(RackId rack, std::size_t kind, std::int64_t milli) const {
  std::vector<MachineId> result;
  for (std::size_t m = first_in_rack_[rack.index()]; m < first_in_rack_[rack.index() + 1]; ++m) {
    if (key_[m].milli >= milli && kind_of(cluster_, MachineId(m)) == kind) {
      result.emplace_back(m);
    }
  }
  return result;
}

void FreeIndex::update(const model::JobPlacement& placed, const planner_model::Room& room) {
  for (const model::TaskPlacement& task : placed.tasks) {
    const MachineKey now = measure(room, task.machine);
    if (now != key_[task.machine.index()]) move(task.machine, now);
  }
}

void FreeIndex::move(MachineId machine, const MachineKey& now) {
  MachineKey& old = key_[machine.index()];
  const std::size_t kind = kind_of(cluster_, machine);
  const RackId rack = cluster_.machine_rack[machine.index()];
  const std::size_t pod = cluster_.pod_of(machine).index() * kinds_ + kind;
  for (std::set<MachineKey>* machines : {&all_[kind], &pods_[pod]}) {
    machines->erase(old);
    machines->insert(now);
  }
  std::int64_t& in_rack = rack_free_[rack.index() * kinds_ + kind];
  racks_[kind].erase({in_rack, rack});
  in_rack += now.milli - old.milli;
  racks_[kind].insert({in_rack, rack});
  pod_free_[pod] += now.milli - old.milli;
  old = now;
}

}  // namespace berth::test
