// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/cluster.hpp"

namespace berth::certify {

using VariantId = StrongId<struct VariantTag>;  ///< machines that differ in their place only
/// Capacity of a machine for plans: its class less immovable content, device by device, or nothing
/// if no task may start there.
struct MachineVariant {
  ClassId machine_class;
  GpuTypeId type;  ///< invalid without GPUs
  bool up = true;
  model::Resources room = {};        ///< or model::kNoLimit
  std::int32_t slices = 0;           ///< of each device; 0: shares of any size
  std::int64_t whole = 0;            ///< devices that are entirely free
  std::vector<std::int16_t> partly;  ///< free thousandths of the others, 1..999, ascending

  auto operator<=>(const MachineVariant&) const = default;

  [[nodiscard]] std::int64_t free_milli() const;
};

/// GPU thousandths of the fewest whole slices that cover a share; the share itself without slices.
/// Up to 31 slices shares fit a device by thousandths exactly if they fit by slices: k slices have
/// floor(1000 k / slices), so one slice too many exceeds the device by more than all roundings.
std::int64_t in_slices(std::int64_t milli, std::int32_t slices);
/// Slices that cover an amount of a device; thousandths without slices.
std::int64_t slices_of(std::int64_t milli, std::int32_t slices);

/// The cluster's machines by variant. Variant c is the empty machine of class c, so that a cluster
/// of empty machines needs no table of machines.
class MachineVariants {
 public:
  explicit MachineVariants(const model::Cluster& cluster);

  [[nodiscard]] std::span<const MachineVariant> all() const { return variants_; }
  [[nodiscard]] const MachineVariant& operator[](VariantId variant) const {
    return variants_[variant.index()];
  }
  [[nodiscard]] std::size_t size() const { return variants_.size(); }
  /// False for the empty machine of a class when the cluster has none.
  [[nodiscard]] bool present(VariantId variant) const { return present_[variant.index()]; }
  [[nodiscard]] VariantId of(MachineId machine) const {
    return of_machine_.empty() ? VariantId(cluster_->machine_class[machine.index()].index())
                               : of_machine_[machine.index()];
  }

 private:
  void find_states();

  const model::Cluster* cluster_;
  std::vector<MachineVariant> variants_;
  std::vector<VariantId> of_machine_;  ///< empty when every machine is
  std::vector<bool> present_;
};

}  // namespace berth::certify
