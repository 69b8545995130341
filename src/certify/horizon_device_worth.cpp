// SPDX-License-Identifier: Apache-2.0
#include "horizon_worth.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

namespace berth::certify {
namespace {

using MilliChanges = std::map<std::int64_t, std::int64_t>;  ///< thousandths of GPUs, by time

/// Thousandths of all GPUs of a machine that are closed at a time.
std::int64_t closed_milli(const std::vector<const Closure*>& closures, std::int64_t time) {
  std::array<std::int64_t, model::kMaxGpusPerMachine> taken{};
  for (const Closure* closure : closures) {
    if (time < closure->from || closure->to <= time) continue;
    for (std::uint64_t rest = closure->devices; rest != 0; rest &= rest - 1) {
      taken[static_cast<std::size_t>(std::countr_zero(rest))] += closure->milli;
    }
  }
  std::int64_t sum = 0;
  for (const std::int64_t milli : taken) sum += std::min<std::int64_t>(milli, 1000);
  return sum;
}

/// What the closures of one machine change.
void subtract_closed(const std::vector<const Closure*>& closures, std::int64_t now,
                     MilliChanges& changes) {
  MilliChanges closed;
  for (const Closure* closure : closures) {
    closed[std::max(now, closure->from)];
    closed[std::max(now, closure->to)];
  }
  std::int64_t before = 0;
  for (auto& [time, milli] : closed) {
    milli = closed_milli(closures, time);
    changes[time] -= milli - before;
    before = milli;
  }
}

}  // namespace

std::vector<std::vector<horizon::CapacityStep>> worth_of_devices(
    const model::Cluster& cluster, std::int64_t now, std::span<const GpuTypeId> types,
    std::span<const Closure> closures) {
  std::vector<MilliChanges> changes(types.size());
  const auto changes_of = [&](const model::MachineClass& of) -> MilliChanges& {
    const auto found = std::ranges::lower_bound(types, of.gpu_type);
    return changes[static_cast<std::size_t>(found - types.begin())];
  };
  for (const ClassId c : cluster.machine_class) {
    const model::MachineClass& of = cluster.classes[c.index()];
    if (of.gpus > 0) changes_of(of)[now] += 1000 * std::int64_t{of.gpus};
  }
  std::map<MachineId, std::vector<const Closure*>> by_machine;
  for (const Closure& closure : closures) by_machine[closure.machine].push_back(&closure);
  for (const auto& [machine, of_machine] : by_machine) {
    const model::MachineClass& of = cluster.class_of(machine);
    if (of.gpus > 0) subtract_closed(of_machine, now, changes_of(of));
  }
  std::vector<std::vector<horizon::CapacityStep>> worth(types.size());
  for (std::size_t t = 0; t < types.size(); ++t) {
    std::int64_t milli = 0;
    for (const auto& [time, change] : changes[t]) {
      milli += change;
      worth[t].push_back({.from = time, .gpus = (horizon::kRentUnit * milli + 999) / 1000});
    }
  }
  return worth;
}

}  // namespace berth::certify
