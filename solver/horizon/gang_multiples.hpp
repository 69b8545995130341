// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/horizon/price_certificate.hpp"
#include "berth/horizon/problem.hpp"

namespace berth::solver::horizon_plan {

/// Divisors of Chvatal-Gomory cuts of the capacity, sum floor(n_j / u) <= floor(C / u) over the
/// jobs that run at a time: of the sizes of gangs that leave a part of the largest pool unused,
/// those whose cuts lose least work and leave most; at most three a curve. Empty where gangs are
/// small parts of a pool, and where options pay for more than GPUs. O(options + sizes^2).
std::vector<berth::horizon::MultipleOfGpus> multiples_of_gangs(
    const berth::horizon::Problem& problem);

/// The problem with limits of these multiples. O(multiples x steps of capacity).
/// @pre the capacity of pools counts GPUs
berth::horizon::Problem with_multiples(berth::horizon::Problem problem,
                                       std::span<const berth::horizon::MultipleOfGpus> multiples);

/// The same, with rents by size too.
berth::horizon::Problem with_rents(const berth::horizon::Problem& problem,
                                   std::span<const berth::horizon::SizeFactor> sizes,
                                   std::span<const berth::horizon::MultipleOfGpus> multiples);

}  // namespace berth::solver::horizon_plan
