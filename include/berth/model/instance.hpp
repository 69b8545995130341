// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "berth/model/cluster.hpp"
#include "berth/model/workload.hpp"

namespace berth::model {

/// What a plan is measured in (design: "Definitions").
enum class Objective : std::uint8_t {
  value,     ///< sum of weight x GPUs x speed x home factor x width factor
  allocate,  ///< GPU thousandths placed; factors and speeds do not count
};

/// Everything the planner is given; immutable once loaded.
struct Instance {
  Cluster cluster;
  Workload workload;
};

/// SHA-256 (hex) over the canonical content: independent of file layout, compression and of the
/// order of keys; machines and jobs in file order.
std::string instance_digest(const Instance& instance);

}  // namespace berth::model
