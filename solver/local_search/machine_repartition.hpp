// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "local_search/search_space.hpp"

#include "berth/base/stop.hpp"

namespace berth::solver::local_search {

/// Repartitions machines, one after the other: one place for a large job becomes several for small
/// ones, or the reverse, if the marginal values of one place more or less, as measured by cyclic
/// exchanges, predict a gain (decision 13). A knapsack over the kinds of places finds the best
/// change of counts. Applies to jobs with whole GPUs on one machine. Cancels cycles, then sweeps
/// over the machines until `most` repartitions were tried, a sweep gains nothing or a stop is
/// requested. Returns the value gained.
template <SearchState State>
double repartition_machines(const SearchSpace<State>& space, int most, const StopToken& stop = {});

}  // namespace berth::solver::local_search
