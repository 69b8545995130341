// SPDX-License-Identifier: Apache-2.0
#include "machine_loads.hpp"

#include "machine_variants.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace berth::certify {

MachineLoads::MachineLoads(const model::Cluster& cluster)
    : cluster_(&cluster), taken_(cluster.machine_class.size()) {
  std::size_t devices = 0;
  for (const ClassId c : cluster.machine_class) {
    first_device_.push_back(devices);
    devices += static_cast<std::size_t>(cluster.classes[c.index()].gpus);
  }
  device_taken_.assign(devices, 0);
  for (const model::Immovable& piece : cluster.immovable) {
    add_resources(piece.machine.index(), piece.taken);
    add_devices(piece.machine.index(), piece.devices, piece.milli);
  }
}

void MachineLoads::add_resources(std::size_t m, const model::Resources& amounts) {
  for (std::size_t r = 0; r < model::kResources; ++r) taken_[m][r] += amounts[r];
}

void MachineLoads::add_devices(std::size_t m, std::uint64_t devices, std::int64_t milli) {
  const std::int32_t slices = cluster_->classes[cluster_->machine_class[m].index()].gpu_slices;
  for (; devices != 0; devices &= devices - 1) {
    device_taken_[first_device_[m] + static_cast<std::size_t>(std::countr_zero(devices))] +=
        slices_of(milli, slices);
  }
}

void MachineLoads::add(const model::TaskPlacement& task, const model::Shape& shape) {
  const std::size_t m = task.machine.index();
  add_resources(m, shape.needs);
  add_devices(m, task.devices, task.milli);
}

void MachineLoads::report(Findings& findings) const {
  // Amounts above 10^18 are written as 10^18.
  const auto told = [](Int128 x) {
    return std::to_string(
        static_cast<std::int64_t>(std::min<Int128>(x, 1'000'000'000'000'000'000)));
  };
  for (std::size_t m = 0; m < taken_.size(); ++m) {
    const model::MachineClass& c = cluster_->classes[cluster_->machine_class[m].index()];
    const std::string machine = "machine " + std::string(cluster_->machine_names[m]);
    const std::int64_t has = c.gpu_slices == 0 ? 1000 : c.gpu_slices;
    for (std::size_t d = 0; d < static_cast<std::size_t>(c.gpus); ++d) {
      const std::int64_t taken = device_taken_[first_device_[m] + d];
      if (taken <= has) continue;
      findings.add(FaultKind::device_oversubscribed,
                   machine + ": device " + std::to_string(d) + " holds " + std::to_string(taken) +
                       " of " + std::to_string(has) +
                       (c.gpu_slices == 0 ? " GPU thousandths" : " slices"));
    }
    for (std::size_t r = 0; r < model::kResources; ++r) {
      const std::int64_t capacity = c.capacity[r];
      if (capacity == model::kNoLimit || taken_[m][r] <= capacity) continue;
      findings.add(FaultKind::machine_oversubscribed,
                   machine + ": tasks take " + told(taken_[m][r]) + " of " +
                       std::to_string(capacity) + " " + std::string(model::kResourceTable[r].unit));
    }
  }
}

}  // namespace berth::certify
