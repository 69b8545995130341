// SPDX-License-Identifier: Apache-2.0
#include "exact/machine_symmetry.hpp"

#include <algorithm>
#include <array>

#include "berth/base/random.hpp"

namespace berth::solver::exact {
namespace {

std::uint64_t combined(std::uint64_t key, std::uint64_t part) { return mix64(key ^ mix64(part)); }

/// Of a multiset, with a mark. `keys` is sorted.
std::uint64_t multiset_key(std::vector<std::uint64_t>& keys, std::uint64_t mark) {
  std::ranges::sort(keys);
  std::uint64_t key = mark;
  for (const std::uint64_t k : keys) key = combined(key, k);
  return key;
}

}  // namespace

MachineSymmetry::MachineSymmetry(const Occupancy& occupancy, std::span<const JobId> jobs) {
  const model::InstanceView& instance = occupancy.valuation().instance();
  const model::Cluster& cluster = instance.cluster;
  machine_mark_.assign(cluster.machines(), 0);
  rack_mark_.assign(cluster.racks.size(), 0);
  pod_mark_.assign(cluster.pods.size(), 0);
  const planner_model::CouplingLimits* limits = occupancy.limit_usage().limits();
  if (limits != nullptr && limits->of_places()) {
    for (std::size_t r = 0; r < rack_mark_.size(); ++r) rack_mark_[r] = r + 1;
    for (std::size_t p = 0; p < pod_mark_.size(); ++p) pod_mark_[p] = p + 1;
  }
  for (const JobId id : jobs) {
    const model::Job& job = instance.workload.job(id);
    rules_ = rules_ || instance.workload.rules_of(job).concern_others;
    if (job.home_rack.valid()) {
      rack_mark_[job.home_rack.index()] = job.home_rack.index() + 1;
      const PodId pod = cluster.racks[job.home_rack.index()].pod;
      pod_mark_[pod.index()] = pod.index() + 1;
    }
    if (job.home_pod.valid()) pod_mark_[job.home_pod.index()] = job.home_pod.index() + 1;
    const model::Running* running = instance.workload.running_of(job);
    if (running == nullptr) continue;
    for (const model::TaskPlacement& task : instance.workload.tasks_of(*running)) {
      machine_mark_[task.machine.index()] = task.machine.index() + 1;
    }
  }
}

std::uint64_t MachineSymmetry::machine_key(const Occupancy& occupancy, MachineId machine) const {
  const model::FreeMachine& free = occupancy.room()[machine];
  const model::Cluster& cluster = occupancy.valuation().instance().cluster;
  std::uint64_t key = combined(machine_mark_[machine.index()], free.is_up() ? 1 : 0);
  key = combined(key, static_cast<std::uint64_t>(cluster.machine_class[machine.index()].value()));
  std::array<std::int16_t, model::kMaxGpusPerMachine> devices{};
  const auto last = std::ranges::copy(free.devices(), devices.begin()).out;
  std::sort(devices.begin(), last);
  for (auto device = devices.begin(); device != last; ++device) {
    key = combined(key, static_cast<std::uint64_t>(*device));
  }
  for (const std::int64_t amount : free.resources()) {
    key = combined(key, static_cast<std::uint64_t>(amount));
  }
  if (!rules_) return key;
  key = combined(key, occupancy.room().tasks(machine) > 0 ? 1 : 0);
  std::vector<std::uint64_t> rows;
  for (const planner_model::Room::RuledJob& job : occupancy.room().ruled_jobs(machine)) {
    rows.push_back(job.rules);
  }
  return multiset_key(rows, key);
}

std::uint64_t MachineSymmetry::rack_key(RackId rack, std::vector<std::uint64_t> machines) const {
  return multiset_key(machines, rack_mark_[rack.index()]);
}

std::vector<std::uint64_t> MachineSymmetry::rack_keys(const Occupancy& occupancy) const {
  const model::Cluster& cluster = occupancy.valuation().instance().cluster;
  std::vector<std::vector<std::uint64_t>> racks(cluster.racks.size());
  for (const MachineId m : occupancy.machines()) {
    racks[cluster.machine_rack[m.index()].index()].push_back(machine_key(occupancy, m));
  }
  std::vector<std::uint64_t> keys;
  for (std::size_t r = 0; r < racks.size(); ++r) {
    keys.push_back(rack_key(RackId(r), std::move(racks[r])));
  }
  return keys;
}

std::uint64_t MachineSymmetry::state_key(const Occupancy& occupancy) const {
  const model::Cluster& cluster = occupancy.valuation().instance().cluster;
  std::vector<std::vector<std::uint64_t>> pods(cluster.pods.size());
  const std::vector<std::uint64_t> racks = rack_keys(occupancy);
  for (std::size_t r = 0; r < racks.size(); ++r) {
    pods[cluster.racks[r].pod.index()].push_back(racks[r]);
  }
  std::vector<std::uint64_t> keys;
  for (std::size_t p = 0; p < pods.size(); ++p) {
    keys.push_back(multiset_key(pods[p], pod_mark_[p]));
  }
  std::uint64_t key = multiset_key(keys, 0);
  for (std::size_t l = 0; l < occupancy.limit_usage().size(); ++l) {
    key = combined(key, static_cast<std::uint64_t>(occupancy.limit_usage().use(l)));
  }
  return key;
}

}  // namespace berth::solver::exact
