// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/base/stop.hpp"
#include "berth/solver/occupancy.hpp"
#include "berth/solver/search_at_prices.hpp"

namespace berth::solver::local_search {

/// Gangs change their GPU type, or leave the plan, or enter it (ruin and recreate: Schrimpf et al.
/// 2000): a gang takes the room of the jobs that lose least on a type; its former room goes to
/// waiting jobs and to jobs of other types that gain by it, by descending gain per GPU, where a job
/// that moves counts the price of the room that it leaves; then waiting jobs fill what is idle and
/// running jobs return. Kept if the total value less surcharges rises. Changes are tried by what
/// they lose at the prices, least first: 64 at most, fewer with more than 938 machines and jobs, as
/// each looks at all of them. Returns the value gained (decision 128).
/// @param occupancy  by values without prices
/// @param slack      value that the plan may gain by its bound: changes that lose as much at the
///                   prices are not tried
double relocate_gangs(Occupancy& occupancy, const SearchPrices& prices, double slack,
                      const StopToken& stop);

}  // namespace berth::solver::local_search
