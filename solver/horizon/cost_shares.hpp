// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/horizon/plan.hpp"
#include "berth/horizon/price_certificate.hpp"
#include "berth/horizon/problem.hpp"

namespace berth::solver::horizon_plan {

/// The problem in which jobs bear shares of the costs of jobs that wait for them: every plan that
/// respects the dependencies costs no less in `problem` (docs/horizon.md). The judge has code of
/// its own for this.
/// @param shares  of dependencies of the problem; those of a job sum to kShareUnit at most
berth::horizon::Problem with_shared_costs(const berth::horizon::Problem& problem,
                                          std::span<const berth::horizon::CostShare> shares);

/// Shares that make cost per GPU-second non-increasing along dependencies: isotonic regression on
/// the forest in which each job waits for the last of its jobs to complete in `plan`. A job that is
/// denser than the one that it waits for forms a block with it, of equal density (chains: Lawler
/// 1978; Sidney 1975), and its cost is passed on until all of the block have that. O((jobs +
/// dependencies) log jobs).
std::vector<berth::horizon::CostShare> shares_by_density(const berth::horizon::Problem& problem,
                                                         const berth::horizon::Plan& plan);

}  // namespace berth::solver::horizon_plan
