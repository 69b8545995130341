// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/model/cluster.hpp"
#include "berth/model/objective.hpp"
#include "berth/model/workload.hpp"

namespace berth::model {

/// The planner's input; immutable once loaded.
struct Instance {
  Cluster cluster;
  Workload workload;
};

/// SHA-256 (hex) over the canonical content: independent of file layout, compression and order of
/// keys; machines and jobs are in file order.
std::string instance_digest(const Instance& instance);

}  // namespace berth::model
