// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "findings.hpp"

#include <array>
#include <cstdint>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"

namespace berth::certify {

/// Load of every machine and device; at first the immovable content.
class MachineLoads {
 public:
  explicit MachineLoads(const model::Cluster& cluster);

  /// @pre the task's devices exist on its machine
  void add(const model::TaskPlacement& task, const model::Shape& shape);
  /// One fault per machine or device that holds more than it has.
  void report(Findings& findings) const;

 private:
  void add_resources(std::size_t m, const model::Resources& amounts);
  void add_devices(std::size_t m, std::uint64_t devices, std::int64_t milli);

  const model::Cluster* cluster_;
  /// By MachineId. A sum over at most 2^32 tasks of amounts below 2^63 leaves 64 bits.
  std::vector<std::array<Int128, model::kResources>> taken_;
  std::vector<std::size_t> first_device_;   ///< by MachineId
  std::vector<std::int64_t> device_taken_;  ///< device by device: slices, or GPU thousandths
};

}  // namespace berth::certify
