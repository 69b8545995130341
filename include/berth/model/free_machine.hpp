// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "berth/base/strong_id.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/workload.hpp"

namespace berth::model {

/// What is free on one machine, device by device. A plain value: what-ifs work on a copy.
class FreeMachine {
 public:
  /// Empty.
  explicit FreeMachine(const MachineClass& machine_class);
  /// Without its immovable content. A machine that is not up has no room, not even for a task that
  /// asks for nothing.
  FreeMachine(const Cluster& cluster, MachineId machine);

  [[nodiscard]] bool is_up() const { return up_; }  ///< new tasks may start there
  /// Free amounts, or kNoLimit.
  [[nodiscard]] const Resources& resources() const { return resources_; }
  [[nodiscard]] std::int64_t cpu() const { return resources_[kCpu]; }
  [[nodiscard]] std::int64_t milli() const { return milli_; }   ///< over all devices
  [[nodiscard]] std::uint64_t whole() const { return whole_; }  ///< mask of entirely free devices
  [[nodiscard]] int whole_count() const;
  [[nodiscard]] std::span<const std::int16_t> devices() const {
    return std::span(device_).first(static_cast<std::size_t>(gpus_));
  }

  [[nodiscard]] bool fits(const Shape& shape) const;
  [[nodiscard]] std::int64_t count(const Shape& shape, std::int64_t limit) const;

  /// Devices for one task: whole ones lowest index first; a share on the fullest device that has
  /// room, ties by index. @pre fits(shape)
  [[nodiscard]] TaskPlacement choose(MachineId m, std::uint32_t group, const Shape& shape) const;

  void take(const TaskPlacement& task, const Shape& shape) { edit(task, shape, -1); }
  void release(const TaskPlacement& task, const Shape& shape) { edit(task, shape, +1); }
  void take(const Immovable& content);

  /// Whether the machine has room for this content, device by device.
  [[nodiscard]] bool fits(const Immovable& content) const;

 private:
  void edit_resources(const Resources& needs, int sign);
  void edit(const TaskPlacement& task, const Shape& shape, int sign);
  void edit_devices(std::uint64_t devices, std::int32_t milli, int sign);

  Resources resources_;
  std::int64_t milli_;
  std::uint64_t whole_;
  std::int32_t gpus_;
  std::int32_t slices_;
  bool up_ = true;
  std::array<std::int16_t, kMaxGpusPerMachine> device_{};
};

}  // namespace berth::model
