// SPDX-License-Identifier: Apache-2.0
#include "berth/model/room.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

#include "berth/base/assert.hpp"

namespace berth::model {

Room::Room(const Cluster& cluster) {
  const std::size_t machines = cluster.machines();
  cpu_.reserve(machines);
  memory_.reserve(machines);
  milli_.reserve(machines);
  whole_.reserve(machines);
  first_.reserve(machines + 1);
  version_.assign(machines, 0);
  first_.push_back(0);
  for (std::size_t m = 0; m < machines; ++m) {
    const MachineClass& c = cluster.class_of(MachineId(m));
    cpu_.push_back(c.cpu_milli);
    memory_.push_back(c.memory_mib);
    milli_.push_back(kGpuMilli * c.gpus);
    whole_.push_back(c.gpus == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << c.gpus) - 1);
    first_.push_back(first_.back() + static_cast<std::uint32_t>(c.gpus));
  }
  device_.assign(first_.back(), static_cast<std::int16_t>(kGpuMilli));
}

int Room::whole_count(MachineId m) const { return std::popcount(whole_[m.index()]); }

std::span<const std::int16_t> Room::devices(MachineId m) const {
  return std::span(device_).subspan(first_[m.index()], first_[m.index() + 1] - first_[m.index()]);
}

bool Room::fits(MachineId m, const Shape& shape) const {
  if (cpu_[m.index()] < shape.cpu_milli || memory_[m.index()] < shape.memory_mib) return false;
  if (shape.gpus > 0) return whole_count(m) >= shape.gpus;
  if (shape.gpu_milli == 0 || whole_[m.index()] != 0) return true;
  if (milli_[m.index()] < shape.gpu_milli) return false;
  return std::ranges::any_of(devices(m), [&](std::int16_t free) { return free >= shape.gpu_milli; });
}

std::int64_t Room::count(MachineId m, const Shape& shape, std::int64_t limit) const {
  std::int64_t n = limit;
  if (shape.cpu_milli > 0) n = std::min(n, cpu_[m.index()] / shape.cpu_milli);
  if (shape.memory_mib > 0) n = std::min(n, memory_[m.index()] / shape.memory_mib);
  if (shape.gpus > 0) return std::min<std::int64_t>(n, whole_count(m) / shape.gpus);
  if (shape.gpu_milli == 0 || n == 0) return n;
  std::int64_t shares = 0;
  for (const std::int16_t free : devices(m)) shares += free / shape.gpu_milli;
  return std::min(n, shares);
}

namespace {

std::uint64_t lowest_bits(std::uint64_t mask, int count) {
  std::uint64_t chosen = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t bit = mask & (~mask + 1);
    chosen |= bit;
    mask ^= bit;
  }
  return chosen;
}

/// The fullest device with room for a share; the lowest index among equals.
std::uint64_t fullest_device(std::span<const std::int16_t> free, std::int32_t milli) {
  std::size_t best = free.size();
  for (std::size_t d = 0; d < free.size(); ++d) {
    if (free[d] >= milli && (best == free.size() || free[d] < free[best])) best = d;
  }
  BERTH_EXPECT(best < free.size());
  return std::uint64_t{1} << best;
}

}  // namespace

TaskPlacement Room::take(MachineId m, std::uint32_t group, const Shape& shape) {
  TaskPlacement task{.machine = m, .group = group};
  if (shape.gpus > 0) {
    BERTH_EXPECT(whole_count(m) >= shape.gpus);
    task.devices = lowest_bits(whole_[m.index()], shape.gpus);
    task.milli = static_cast<std::int32_t>(kGpuMilli);
  } else if (shape.gpu_milli > 0) {
    task.devices = fullest_device(devices(m), shape.gpu_milli);
    task.milli = shape.gpu_milli;
  }
  edit(task, shape, -1);
  return task;
}

void Room::take(const TaskPlacement& task, const Shape& shape) { edit(task, shape, -1); }
void Room::release(const TaskPlacement& task, const Shape& shape) { edit(task, shape, +1); }

void Room::edit(const TaskPlacement& task, const Shape& shape, int sign) {
  const std::size_t m = task.machine.index();
  cpu_[m] += sign * shape.cpu_milli;
  memory_[m] += sign * shape.memory_mib;
  for (std::uint64_t rest = task.devices; rest != 0; rest &= rest - 1) {
    const auto d = static_cast<std::size_t>(std::countr_zero(rest));
    std::int16_t& free = device_[first_[m] + d];
    free = static_cast<std::int16_t>(free + sign * task.milli);
    milli_[m] += sign * task.milli;
    BERTH_ASSERT(free >= 0 && free <= kGpuMilli);
    const std::uint64_t bit = std::uint64_t{1} << d;
    whole_[m] = free == kGpuMilli ? whole_[m] | bit : whole_[m] & ~bit;
  }
  BERTH_ASSERT(cpu_[m] >= 0 && memory_[m] >= 0);
  ++version_[m];
}

void take(Room& room, const Workload& workload, const JobPlacement& placement) {
  const auto groups = workload.groups_of(workload.job(placement.job));
  for (const TaskPlacement& t : placement.tasks) room.take(t, workload.shape(groups[t.group].shape));
}

void release(Room& room, const Workload& workload, const JobPlacement& placement) {
  const auto groups = workload.groups_of(workload.job(placement.job));
  for (const TaskPlacement& t : placement.tasks) {
    room.release(t, workload.shape(groups[t.group].shape));
  }
}

namespace {

/// Room left after one more task, the smaller the better; then the id.
auto tightness(const Room& room, MachineId m) {
  return std::tuple(room.free_milli(m), room.free_cpu(m), m);
}

/// Order of groups: most GPU thousandths a task first, ties by position.
std::vector<std::uint32_t> largest_first(const Workload& workload,
                                         std::span<const TaskGroup> groups) {
  std::vector<std::uint32_t> order(groups.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater{}, [&](std::uint32_t g) {
    const Shape& s = workload.shape(groups[g].shape);
    return std::tuple(s.total_milli(), s.cpu_milli);
  });
  return order;
}

bool place_group(Room& room, const Shape& shape, std::uint32_t group, std::int64_t count,
                 std::span<const MachineId> candidates, std::vector<TaskPlacement>& tasks) {
  std::vector<MachineId> order;
  for (const MachineId m : candidates) {
    if (room.fits(m, shape)) order.push_back(m);
  }
  const auto tighter = [&](MachineId a, MachineId b) {
    return tightness(room, a) < tightness(room, b);
  };
  if (count == 1) {
    const auto best = std::ranges::min_element(order, tighter);
    if (best == order.end()) return false;
    tasks.push_back(room.take(*best, group, shape));
    return true;
  }
  std::ranges::sort(order, tighter);
  for (const MachineId m : order) {
    for (; count > 0 && room.fits(m, shape); --count) tasks.push_back(room.take(m, group, shape));
    if (count == 0) return true;
  }
  return false;
}

/// All groups on these machines, or none of it.
bool place_all(Room& room, const Workload& workload, JobPlacement& placement,
               std::span<const MachineId> candidates) {
  const auto groups = workload.groups_of(workload.job(placement.job));
  for (const std::uint32_t g : largest_first(workload, groups)) {
    const Shape& shape = workload.shape(groups[g].shape);
    if (!place_group(room, shape, g, groups[g].count, candidates, placement.tasks)) {
      release(room, workload, placement);
      placement.tasks.clear();
      return false;
    }
  }
  std::ranges::stable_sort(placement.tasks, {}, &TaskPlacement::group);
  return true;
}

}  // namespace

std::optional<JobPlacement> place_job(Room& room, const Workload& workload, JobId job,
                                      std::span<const MachineId> candidates) {
  JobPlacement placement{.job = job};
  const Job& j = workload.job(job);
  if (j.domain != Level::machine || workload.tasks(j) == 1) {
    if (!place_all(room, workload, placement, candidates)) return std::nullopt;
    return placement;
  }
  std::vector<MachineId> order(candidates.begin(), candidates.end());
  std::ranges::sort(order, {}, [&](MachineId m) { return tightness(room, m); });
  for (const MachineId m : order) {
    if (place_all(room, workload, placement, std::span(&m, 1))) return placement;
  }
  return std::nullopt;
}

}  // namespace berth::model
