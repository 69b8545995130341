// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace berth {

/// An index into one kind of table: a JobId never passes for a MachineId. Invalid (-1) by default.
/// Trivially copyable, 4 bytes, so `comm` ships it as it stands.
template <class Tag>
class StrongId {
 public:
  constexpr StrongId() = default;
  constexpr explicit StrongId(std::int32_t value) : value_(value) {}
  constexpr explicit StrongId(std::size_t value) : value_(static_cast<std::int32_t>(value)) {}

  [[nodiscard]] constexpr bool valid() const { return value_ >= 0; }
  [[nodiscard]] constexpr std::int32_t value() const { return value_; }
  [[nodiscard]] constexpr std::size_t index() const { return static_cast<std::size_t>(value_); }
  constexpr auto operator<=>(const StrongId&) const = default;

 private:
  std::int32_t value_ = -1;
};

using PodId = StrongId<struct PodTag>;
using RackId = StrongId<struct RackTag>;
using MachineId = StrongId<struct MachineTag>;
using ClassId = StrongId<struct ClassTag>;      ///< machine class
using GpuTypeId = StrongId<struct GpuTypeTag>;  ///< below kMaxGpuTypes
using QueueId = StrongId<struct QueueTag>;
using JobId = StrongId<struct JobTag>;      ///< in file order; the last tie-breaker
using ShapeId = StrongId<struct ShapeTag>;  ///< distinct task shape
using PoolId = StrongId<struct PoolTag>;    ///< machines of one class in one rack or pod
using ShardId = StrongId<struct ShardTag>;  ///< logical piece of the cluster

}  // namespace berth

template <class Tag>
struct std::hash<berth::StrongId<Tag>> {
  std::size_t operator()(const berth::StrongId<Tag>& id) const noexcept {
    return std::hash<std::int32_t>{}(id.value());
  }
};
