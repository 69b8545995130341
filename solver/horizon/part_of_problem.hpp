// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/horizon/problem.hpp"

namespace berth::solver::horizon_plan {

/// By PoolId of one problem: the same pool in another one; invalid where that lacks it.
using PoolMap = std::vector<PoolId>;

/// Each pool as itself.
PoolMap same_pools(std::size_t pools);

/// Appends a job of a problem, with its options in their order. An option without a pool in `to`
/// stays, with an empty set of pools: it cannot be chosen. Dependencies are not copied. O(options).
void append_job(const berth::horizon::Problem& from, JobId job, const PoolMap& pools,
                berth::horizon::Problem& to);

/// The machines of some pools of a problem, ascending, with their outages and all limits; no jobs.
/// O(machines + outages).
/// @param pools  filled with the numbers of the pools there
berth::horizon::Problem machines_of_pools(const berth::horizon::Problem& problem,
                                          std::span<const PoolId> chosen, PoolMap& pools);

/// Pools of these machines, which are neighbours in `problem`, with their capacities over time.
struct MachineRun {
  berth::horizon::CurveId curve;
  berth::horizon::IndexRange machines;
};
/// The problem with these pools instead of its own, and further outages. All machines are in
/// exactly one run, ascending. @param pools  by run: the pool of the problem that it is a part of
berth::horizon::Problem with_pools(berth::horizon::Problem problem,
                                   std::span<const MachineRun> runs, std::span<const PoolId> pools,
                                   std::span<const berth::horizon::Outage> outages);

}  // namespace berth::solver::horizon_plan
