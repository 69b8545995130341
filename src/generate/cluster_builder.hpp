// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "berth/model/cluster.hpp"

namespace berth::generate {

inline constexpr std::int32_t kGpusPerMachine = 8;  ///< definition of the presets

/// Builds a cluster pod by pod, rack by rack: names ("p3", "p3-r07", "p3-r07-m01") and numbers
/// follow the order of the calls, types and classes the order of first use.
class ClusterBuilder {
 public:
  void start_pod();
  void start_rack();
  void add_machine(ClassId machine_class);

  /// The id of the class of that name; the first call with a name also fixes its contents to
  /// `wanted`.
  ClassId class_id(model::MachineClass wanted);
  GpuTypeId gpu_type(std::string_view name);

  [[nodiscard]] std::size_t racks() const { return cluster_.racks.size(); }
  model::Cluster take() { return std::move(cluster_); }

 private:
  model::Cluster cluster_;
  std::int64_t racks_in_pod_ = 0;
  std::int64_t machines_in_rack_ = 0;
};

}  // namespace berth::generate
