// SPDX-License-Identifier: Apache-2.0
#include "berth/model/free_machine.hpp"

#include <algorithm>
#include <bit>

#include "berth/base/assert.hpp"

namespace berth::model {

FreeMachine::FreeMachine(const MachineClass& machine_class)
    : resources_(machine_class.capacity),
      milli_(kGpuMilli * machine_class.gpus),
      whole_(machine_class.gpus == 64 ? ~std::uint64_t{0}
                                      : (std::uint64_t{1} << machine_class.gpus) - 1),
      gpus_(machine_class.gpus),
      slices_(machine_class.gpu_slices) {
  BERTH_EXPECT(machine_class.gpus >= 0 && machine_class.gpus <= kMaxGpusPerMachine);
  std::ranges::fill_n(device_.begin(), gpus_, static_cast<std::int16_t>(kGpuMilli));
}

FreeMachine::FreeMachine(const Cluster& cluster, MachineId machine)
    : FreeMachine(cluster.class_of(machine)) {
  if (cluster.state_of(machine) != MachineState::up) {
    close();
    return;
  }
  for (const Immovable& content : cluster.immovable_on(machine)) take(content);
}

void FreeMachine::close() {
  up_ = false;
  resources_ = {};
  milli_ = 0;
  whole_ = 0;
  device_.fill(0);
}

bool FreeMachine::fits(const Immovable& content) const {
  if (!up_ || !content.taken.within(resources_)) return false;
  const std::int32_t milli = share_taken(content.milli, slices_);
  for (std::uint64_t rest = content.devices; rest != 0; rest &= rest - 1) {
    const int d = std::countr_zero(rest);
    if (d >= gpus_ || device_[static_cast<std::size_t>(d)] < milli) return false;
  }
  return true;
}

int FreeMachine::whole_count() const { return std::popcount(whole_); }

bool FreeMachine::fits(const Shape& shape) const {
  if (!up_ || !shape.needs.within(resources_)) return false;
  if (shape.gpus > 0) return whole_count() >= shape.gpus;
  if (shape.gpu_milli == 0 || whole_ != 0) return true;
  const std::int32_t milli = share_taken(shape.gpu_milli, slices_);
  if (milli_ < milli) return false;
  return std::ranges::any_of(devices(), [&](std::int16_t free) { return free >= milli; });
}

std::int64_t FreeMachine::count(const Shape& shape, std::int64_t limit) const {
  if (!up_) return 0;
  std::int64_t n = limit;
  for (std::size_t r = 0; r < kResources; ++r) {
    if (shape.needs[r] > 0) n = std::min(n, resources_[r] / shape.needs[r]);
  }
  if (shape.gpus > 0) return std::min<std::int64_t>(n, whole_count() / shape.gpus);
  if (shape.gpu_milli == 0 || n == 0) return n;
  const std::int32_t milli = share_taken(shape.gpu_milli, slices_);
  std::int64_t shares = 0;
  for (const std::int16_t free : devices()) shares += free / milli;
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

std::uint64_t fullest_device(std::span<const std::int16_t> free, std::int32_t milli) {
  std::size_t best = free.size();
  for (std::size_t d = 0; d < free.size(); ++d) {
    if (free[d] >= milli && (best == free.size() || free[d] < free[best])) best = d;
  }
  BERTH_EXPECT(best < free.size());
  return std::uint64_t{1} << best;
}

}  // namespace

TaskPlacement FreeMachine::choose(MachineId m, std::uint32_t group, const Shape& shape) const {
  TaskPlacement task{.machine = m, .group = group};
  if (shape.gpus > 0) {
    BERTH_EXPECT(whole_count() >= shape.gpus);
    task.devices = lowest_bits(whole_, shape.gpus);
    task.milli = static_cast<std::int32_t>(kGpuMilli);
  } else if (shape.gpu_milli > 0) {
    task.milli = share_taken(shape.gpu_milli, slices_);
    task.devices = fullest_device(devices(), task.milli);
  }
  return task;
}

void FreeMachine::edit(const TaskPlacement& task, const Shape& shape, int sign) {
  edit_resources(shape.needs, sign);
  edit_devices(task.devices, task.milli, sign);
}

void FreeMachine::take(const Immovable& content) {
  BERTH_EXPECT(fits(content));
  edit_resources(content.taken, -1);
  edit_devices(content.devices, share_taken(content.milli, slices_), -1);
}

void FreeMachine::edit_resources(const Resources& needs, int sign) {
  add_within_limits(resources_, sign * needs);
  BERTH_ASSERT(!resources_.any_negative());
}

void FreeMachine::edit_devices(std::uint64_t devices, std::int32_t milli, int sign) {
  for (std::uint64_t rest = devices; rest != 0; rest &= rest - 1) {
    const int d = std::countr_zero(rest);
    BERTH_EXPECT(d < gpus_);
    std::int16_t& free = device_[static_cast<std::size_t>(d)];
    free = static_cast<std::int16_t>(free + sign * milli);
    milli_ += sign * milli;
    BERTH_ASSERT(free >= 0 && free <= kGpuMilli);
    const std::uint64_t bit = std::uint64_t{1} << d;
    whole_ = free == kGpuMilli ? whole_ | bit : whole_ & ~bit;
  }
}

}  // namespace berth::model
