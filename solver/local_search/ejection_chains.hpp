// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "local_search/search_space.hpp"

#include <span>

#include "berth/base/stop.hpp"

namespace berth::solver::local_search {

/// Ejection chains (Glover 1992): a job takes the place of cheaper ones, which are inserted
/// elsewhere in turn or become unplaced; a chain is kept if the total value rises. Prices guide the
/// search (an ejected job is expected to earn its best priced profit elsewhere); acceptance depends
/// on values only. No job is placed where it would exceed a limit. Sweeps over the jobs by
/// descending regret until `most` chains were tried, two consecutive sweeps gain nothing, or a stop
/// is requested.
/// @param prices  by PoolId of the pool index
/// @return the value gained
template <SearchState State>
double run_ejection_chains(const SearchSpace<State>& space, std::span<const double> prices,
                           int most, const StopToken& stop = {});

}  // namespace berth::solver::local_search
