// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compact.hpp"

#include "berth/model/instance.hpp"

namespace berth::peers {

/// @pre every rack is one machine, every job one task of whole GPUs that fits in any rack
Graph compact_graph(const model::Instance& instance);

/// Berth's result on the instance.
struct Planned {
  double bound = 0.0;  ///< proved
  double value = 0.0;  ///< of the plan: whole jobs in whole racks
};
double bound_by_prices(const model::Instance& instance);
Planned plan(const model::Instance& instance);

}  // namespace berth::peers
