// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/horizon/price_certificate.hpp"
#include "berth/horizon/problem.hpp"

namespace berth::solver::horizon_plan {

/// GPUs that gangs of each size should pay for where they are large parts of a pool: the prices of
/// fractional cutting stock (Gilmore and Gomory 1961), with the largest pool of a curve as stock
/// and the GPU-seconds of all jobs as demand. Empty where gangs are small, where the prices gain
/// little, or where options do not pay for their GPUs on one curve each. O(rounds x (sizes^3 +
/// sizes x GPUs)). @pre a PetscSession exists
std::vector<berth::horizon::SizeFactor> sizes_by_cutting_stock(
    const berth::horizon::Problem& problem);

/// True when every option pays for its GPUs, on one curve.
bool pays_for_gpus(const berth::horizon::Problem& problem);
/// @pre the option has a pool, and all of its pools one curve
std::size_t curve_of(const berth::horizon::Problem& problem, const berth::horizon::Option& option);
/// GPUs over time; where tasks have shares, with those of which a part is free.
std::vector<berth::horizon::CapacityStep> free_gpus(const berth::horizon::Pool& pool);
/// GPUs of the largest pool, by curve.
std::vector<berth::horizon::Gpus> largest_pools(const berth::horizon::Problem& problem);
/// True for at most 1,000 jobs, where some gang takes a sixteenth of the largest pool or more: such
/// gangs fill a pool in twos and threes, which asks for a longer search, and it is cheap there.
bool has_few_large_gangs(const berth::horizon::Problem& problem);

/// The problem with rents by these sizes, and pools that are worth the most that gangs in them pay.
/// O(options x sizes + sizes x GPUs of a pool).
berth::horizon::Problem with_gang_sizes(berth::horizon::Problem problem,
                                        std::span<const berth::horizon::SizeFactor> sizes);

}  // namespace berth::solver::horizon_plan
