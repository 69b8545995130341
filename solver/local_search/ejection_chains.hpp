// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "local_search/search_space.hpp"

#include <span>

#include "berth/base/stop.hpp"

namespace berth::solver::local_search {

/// Ejection chains (Glover 1992): a job takes the place of cheaper ones, which are inserted
/// elsewhere in turn or stay out, while the total value rises. Prices say where to look (an ejected
/// job is expected to find its best priced profit elsewhere); the values alone decide what stays.
/// No job is placed where it would exceed a limit. Sweeps over the jobs in order of
/// regret until `most` chains were tried or two sweeps in a row gain nothing, or `stop` says so.
/// @param prices  by PoolId of the pool index
/// @return the value gained
template <SearchState State>
double run_ejection_chains(const SearchSpace<State>& space, std::span<const double> prices,
                           int most, const StopToken& stop = {});

}  // namespace berth::solver::local_search
