// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/horizon/problem.hpp"
#include "berth/solver/horizon_shard.hpp"

namespace berth::solver::horizon_plan {

/// Divides quotas, licenses and budgets of GPU-hours among shards: each gets what its plan uses, if
/// it has one, and of the rest a share by the work of its jobs, rounded down. So plans of the
/// shards together keep the limits of the problem.
/// @param over_all  plan of the jobs that no shard has: they use the limits first
void divide_limits(const berth::horizon::Problem& problem, const berth::horizon::Plan& over_all,
                   std::span<HorizonShardTask> tasks);

}  // namespace berth::solver::horizon_plan
