// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/base/stop.hpp"
#include "berth/solver/configuration_lp.hpp"

namespace berth::solver {

/// True when machines hold less of what jobs ask for at these GPU prices than their GPUs alone
/// would. For each GPU type, a configuration LP with the rows of that type packs the tasks that the
/// softmax over options asks for, each worth its GPUs' price, or a tenth of the jobs' mean value
/// per GPU where that is more: GPUs are free where CPU binds. Contents bind when the sums fall
/// short of the smaller of demand and capacity by more than `relative` of the dual at these prices.
/// Jobs without GPUs are divided among the types by numbers of machines. If contents do not bind at
/// the prices that minimise the dual, it is as good as the bound of the configuration LP, up to
/// that part and to the smoothing (complementary slackness).
/// @param gpu_price  by slot
bool contents_bind(std::span<const BinType> bins, const JobCounts& jobs,
                   std::span<const model::Shape> shapes, const ConfigurationStart& start,
                   double relative, const StopToken& stop);

}  // namespace berth::solver
