// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "berth/model/cluster.hpp"

namespace berth::io {

/// Finds or adds classes and GPU types of a cluster that is being imported; they are numbered in
/// order of first appearance.
class MachineClasses {
 public:
  explicit MachineClasses(model::Cluster& cluster) : cluster_(&cluster) {}

  /// Class with these amounts, named after them: "G2-8g-96c-384g" (type, GPUs, cores, GiB; "cpu"
  /// without GPUs). Amounts that are not whole cores or GiB are named in thousandths (`m`) and MiB
  /// (`mi`). Sets only name, type and amounts.
  ClassId of(std::string_view gpu_type, const model::MachineClass& amounts);

  /// The type of that name; invalid when it would be the 65th.
  GpuTypeId gpu_type(std::string_view name);

 private:
  using Key = std::tuple<std::int32_t, std::int32_t, std::int64_t, std::int64_t>;

  model::Cluster* cluster_;
  std::map<Key, ClassId> known_;
};

}  // namespace berth::io
