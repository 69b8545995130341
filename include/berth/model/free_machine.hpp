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

/// Free capacity of one machine, device by device. A plain value: trials work on a copy.
class FreeMachine {
 public:
  /// A machine without content.
  explicit FreeMachine(const MachineClass& machine_class);
  /// The machine with its immovable content only. A machine that is not up has no room, not even
  /// for a task without needs.
  FreeMachine(const Cluster& cluster, MachineId machine);

  [[nodiscard]] bool is_up() const { return up_; }  ///< new tasks may start here
  /// Free amounts by resource; kNoLimit where the machine has no limit.
  [[nodiscard]] const Resources& resources() const { return resources_; }
  [[nodiscard]] std::int64_t cpu() const { return resources_[kCpu]; }
  [[nodiscard]] std::int64_t milli() const { return milli_; }   ///< thousandths, all devices
  [[nodiscard]] std::uint64_t whole() const { return whole_; }  ///< mask of entirely free devices
  [[nodiscard]] int whole_count() const;
  [[nodiscard]] std::span<const std::int16_t> devices() const {
    return std::span(device_).first(static_cast<std::size_t>(gpus_));
  }

  /// True when one task of the shape fits; the caller checks the GPU type. O(devices).
  [[nodiscard]] bool fits(const Shape& shape) const;
  /// Number of tasks of the shape that fit together, at most `limit`. O(devices).
  [[nodiscard]] std::int64_t count(const Shape& shape, std::int64_t limit) const;

  /// Devices for one task: whole devices by ascending index; a share on the fullest device with
  /// room (best fit), ties by index. @pre fits(shape)
  [[nodiscard]] TaskPlacement choose(MachineId m, std::uint32_t group, const Shape& shape) const;

  void take(const TaskPlacement& task, const Shape& shape) { edit(task, shape, -1); }
  void release(const TaskPlacement& task, const Shape& shape) { edit(task, shape, +1); }
  void take(const Immovable& content);
  /// Takes all that is left: no task fits any more, not even one without needs.
  void close();

  /// True when the machine has room for this content, device by device.
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
