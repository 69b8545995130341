// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assignment/free_pools.hpp"
#include "assignment/option_table.hpp"
#include "assignment/placement_table.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/model/limit_usage.hpp"

namespace berth::solver::local_search {

/// Places unplaced jobs into idle capacity: required ones first, then the best value per GPU;
/// then CPU-only jobs. Ties by precedence. Ends early when `stop` says so.
void fill_idle_capacity(const model::Valuation& valuation,
                        const assignment::OptionTable& option_table,
                        assignment::FreePools& free_pools, assignment::PlacementTable& placements,
                        const StopToken& stop = {});

}  // namespace berth::solver::local_search
