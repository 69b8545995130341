// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/cluster.hpp"

namespace berth::certify {

using KindId = StrongId<struct KindTag>;  ///< machines that plans cannot tell apart, but by place

/// What a plan may use of a machine: its class with immovable content taken off device by device,
/// or nothing when no task may start there.
struct Kind {
  ClassId machine_class;
  GpuTypeId type;  ///< invalid without GPUs
  bool up = true;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::int64_t nic_mbps = 0;         ///< or model::kNoLimit
  std::int32_t slices = 0;           ///< of each device; 0: shares of any size
  std::int64_t whole = 0;            ///< devices that are entirely free
  std::vector<std::int16_t> partly;  ///< free thousandths of the others, 1..999, ascending

  auto operator<=>(const Kind&) const = default;

  [[nodiscard]] std::int64_t free_milli() const;
};

/// GPU thousandths of the fewest whole slices that cover a share; any share where there are none.
/// Up to 31 slices the thousandths of a device are enough exactly when its slices are: k of them
/// have floor(1000 k / slices), so one too many is more than the roundings of all together.
std::int64_t in_slices(std::int64_t milli, std::int32_t slices);
/// How many slices (thousandths where there are none) of a device that is.
std::int64_t slices_of(std::int64_t milli, std::int32_t slices);

/// The cluster's machines by kind. Kind c is the empty machine of class c, so that a cluster of
/// empty machines needs no table of machines.
class Kinds {
 public:
  explicit Kinds(const model::Cluster& cluster);

  [[nodiscard]] std::span<const Kind> all() const { return kinds_; }
  [[nodiscard]] const Kind& operator[](KindId kind) const { return kinds_[kind.index()]; }
  [[nodiscard]] std::size_t size() const { return kinds_.size(); }
  /// False for the empty machine of a class when the cluster has none.
  [[nodiscard]] bool present(KindId kind) const { return present_[kind.index()]; }
  [[nodiscard]] KindId of(MachineId machine) const {
    return of_machine_.empty() ? KindId(cluster_->machine_class[machine.index()].index())
                               : of_machine_[machine.index()];
  }

 private:
  void find_states();

  const model::Cluster* cluster_;
  std::vector<Kind> kinds_;
  std::vector<KindId> of_machine_;  ///< empty when every machine is
  std::vector<bool> present_;
};

}  // namespace berth::certify
