// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "local_search/search_space.hpp"

#include "berth/base/stop.hpp"

namespace berth::solver::local_search {

/// Places unplaced jobs into idle capacity: required ones first, then the best value per GPU;
/// then CPU-only jobs. Ties by precedence. Ends early when `stop` says so.
/// @param free_pools  of the space
void fill_idle_capacity(const SearchSpace& space, assignment::FreePools& free_pools,
                        const StopToken& stop = {});

}  // namespace berth::solver::local_search
