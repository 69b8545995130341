// SPDX-License-Identifier: Apache-2.0
#include "exact/placement_enumerator.hpp"

#include "local_search/candidate_domains.hpp"

#include <algorithm>
#include <tuple>

#include "berth/base/random.hpp"

namespace berth::solver::exact {

using model::Level;

std::vector<PlacementEnumerator::ValuedPlacement> PlacementEnumerator::placements(JobId id) {
  const model::WorkloadView& workload = occupancy_.valuation().instance().workload;
  found_.clear();
  job_ = &workload.job(id);
  partial_ = {.job = id, .tasks = {}};
  const auto surcharge = occupancy_.limit_usage().surcharge(id);
  if (!surcharge) return {};
  surcharge_ = *surcharge;
  if (const model::Running* running = workload.running_of(*job_)) {
    model::JobPlacement current = planner_model::current_placement(workload, *running);
    if (occupancy_.is_free(current) && occupancy_.limit_usage().carries(current)) {
      const double value = net_value(current);
      found_.push_back({value, std::move(current)});
    }
  }
  for (const GpuTypeId type : local_search::candidate_types(occupancy_.index(), workload, *job_)) {
    enumerate_on(type);
    if (workload.gpu_milli(*job_) == 0) break;  // its tasks may be on several types
  }
  std::ranges::stable_sort(
      found_, [](const ValuedPlacement& a, const ValuedPlacement& b) { return a.value > b.value; });
  return std::move(found_);
}

double PlacementEnumerator::net_value(const model::JobPlacement& placement) const {
  return occupancy_.valuation().placed(placement) - surcharge_ -
         occupancy_.limit_usage().surcharge_of_place(placement);
}

void PlacementEnumerator::enumerate_on(GpuTypeId type) {
  const model::Cluster& cluster = occupancy_.valuation().instance().cluster;
  const model::WorkloadView& workload = occupancy_.valuation().instance().workload;
  const bool cpu_tasks = std::ranges::any_of(
      workload.groups_of(*job_),
      [&](const model::TaskGroup& g) { return !workload.shape(g.shape).uses_gpu(); });
  type_ = type;
  candidates_.clear();
  for (const Domain& all :
       occupancy_.index().domains(cpu_tasks ? GpuTypeId{} : type, Level::cluster)) {
    candidates_.insert(candidates_.end(), all.machines.begin(), all.machines.end());
  }
  std::erase_if(candidates_, [&](MachineId m) {
    return !occupancy_.room().admits(workload.tables(), job_->rules, m);
  });
  domain_counts_.emplace(cluster, workload.rules_of(*job_), workload.tasks(*job_));
  found_on_type_ = 0;
  next_group(0);
}

void PlacementEnumerator::next_group(std::size_t group) {
  const model::WorkloadView& workload = occupancy_.valuation().instance().workload;
  if (group == job_->groups) {
    finish();
    return;
  }
  const auto slots = std::exchange(slots_, {});
  const auto counts = std::exchange(counts_, {});
  order_slots();
  counts_.assign(slots_.size(), 0);
  place_from(group, workload.groups_of(*job_)[group].count, 0, true);
  slots_ = slots;
  counts_ = counts;
}

/// Candidates by pod and rack, equal racks of a pod side by side; in a rack the fullest first.
void PlacementEnumerator::order_slots() {
  const model::Cluster& cluster = occupancy_.valuation().instance().cluster;
  std::vector<MachineId> order = candidates_;
  std::ranges::sort(order, {}, [&](MachineId m) { return cluster.machine_rack[m.index()]; });
  struct RackSlots {
    PodId pod;
    std::uint64_t key;
    std::vector<MachineSlot> slots;
  };
  std::vector<RackSlots> racks;
  const std::vector<std::uint64_t> whole = symmetry_.rack_keys(occupancy_);
  for (std::size_t i = 0; i < order.size();) {
    const RackId rack = cluster.machine_rack[order[i].index()];
    RackSlots& all = racks.emplace_back(RackSlots{cluster.racks[rack.index()].pod, 0, {}});
    std::vector<std::uint64_t> keys;
    for (; i < order.size() && cluster.machine_rack[order[i].index()] == rack; ++i) {
      // the tasks placed so far mark the domain of the job
      std::uint64_t key = symmetry_.machine_key(occupancy_, order[i]);
      if (!partial_.tasks.empty()) key += order[i].index();
      all.slots.push_back({.machine = order[i], .key = key});
      keys.push_back(key);
    }
    const planner_model::Room& room = occupancy_.room();
    std::ranges::sort(all.slots, {}, [&](const MachineSlot& s) {
      return std::tuple(room.free_milli(s.machine), room.free_cpu(s.machine), s.key, s.machine);
    });
    all.key = mix64(symmetry_.rack_key(rack, std::move(keys)) ^ mix64(whole[rack.index()]));
  }
  std::ranges::stable_sort(racks, {}, [](const RackSlots& r) { return std::tuple(r.pod, r.key); });
  slots_.clear();
  for (std::size_t r = 0; r < racks.size(); ++r) {
    const bool equal =
        r > 0 && racks[r].pod == racks[r - 1].pod && racks[r].key == racks[r - 1].key;
    const std::size_t first = slots_.size(), size = racks[r].slots.size();
    for (MachineSlot slot : racks[r].slots) {
      slot.rack_first = first;
      slot.twin = equal ? static_cast<std::ptrdiff_t>(slots_.size() - size) : -1;
      slots_.push_back(slot);
    }
  }
}

bool PlacementEnumerator::is_within_domain(MachineId machine) const {
  if (partial_.tasks.empty()) return true;
  const model::Cluster& cluster = occupancy_.valuation().instance().cluster;
  const MachineId first = partial_.tasks.front().machine;
  switch (job_->domain) {
    case Level::machine:
      return machine == first;
    case Level::rack:
      return cluster.machine_rack[machine.index()] == cluster.machine_rack[first.index()];
    case Level::pod:
      return cluster.pod_of(machine) == cluster.pod_of(first);
    case Level::cluster:
      return true;
  }
  return true;
}

bool PlacementEnumerator::allows_type(const model::Shape& shape, MachineId machine) const {
  const model::InstanceView& instance = occupancy_.valuation().instance();
  const GpuTypeId type = instance.cluster.class_of(machine).gpu_type;
  return shape.uses_gpu() ? type == type_ : instance.workload.allows(*job_, shape, type);
}

void PlacementEnumerator::place_from(std::size_t group, std::int64_t left, std::size_t at,
                                     bool twins_equal) {
  if (found_on_type_ >= most_) {
    complete_ = false;
    return;
  }
  if (left == 0) {
    next_group(group + 1);
    return;
  }
  if (at == slots_.size()) return;
  const model::WorkloadView& workload = occupancy_.valuation().instance().workload;
  const model::TaskGroup& tasks = workload.groups_of(*job_)[group];
  const model::Shape& shape = workload.shape(tasks.shape);
  const MachineSlot slot = slots_[at];  // the next group has slots of its own
  const bool first_of_rack = slot.rack_first == at;
  const bool equal_before = first_of_rack || twins_equal;
  std::int64_t most = 0;
  if (is_within_domain(slot.machine) && allows_type(shape, slot.machine)) {
    most = std::min(left, occupancy_.room()[slot.machine].count(shape, left));
  }
  // Equal machines have no more tasks than the one before, equal racks not more than the rack.
  if (!first_of_rack && slots_[at - 1].key == slot.key) most = std::min(most, counts_[at - 1]);
  const bool follows_twin = slot.twin >= 0 && equal_before;
  const auto twin = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, slot.twin));
  if (follows_twin) most = std::min(most, counts_[twin]);
  for (std::int64_t k = 0; k < most; ++k) {
    if (!domain_counts_->allow(slot.machine)) {
      most = k;
      break;
    }
    domain_counts_->take(slot.machine);
    partial_.tasks.push_back(
        occupancy_.room().take(slot.machine, static_cast<std::uint32_t>(group), shape));
  }
  for (std::int64_t k = most; k >= 0; --k) {
    counts_[at] = k;
    place_from(group, left - k, at + 1, follows_twin && k == counts_[twin]);
    if (k == 0) break;
    domain_counts_->give_back(slot.machine);
    occupancy_.room().release(partial_.tasks.back(), shape);
    partial_.tasks.pop_back();
  }
  counts_[at] = 0;
}

void PlacementEnumerator::finish() {
  ++found_on_type_;
  const planner_model::LimitUsage& usage = occupancy_.limit_usage();
  if (!usage.carries(partial_)) return;
  found_.push_back({net_value(partial_), partial_});
}

}  // namespace berth::solver::exact
