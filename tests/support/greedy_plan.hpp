// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "local_search/fill_idle_capacity.hpp"

#include "berth/solver/occupancy.hpp"

namespace berth::test {

/// Fills the idle capacity with unplaced jobs. Needs the solver's own headers.
inline void add_greedily(solver::Occupancy& occupancy) {
  solver::local_search::fill_idle_capacity(occupancy, occupancy.unplaced_jobs());
}

}  // namespace berth::test
