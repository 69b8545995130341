// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::test {

/// The baseline plan: best fit, job by job in order of arrival (ties by id), without look-ahead or
/// eviction.
///
/// Tries a job's options in descending order of value: GPU type, width of the domain, distance from
/// home (ties: first type, narrower, nearer). Within an option it takes the fitting domain with the
/// least free GPUs, and in it the machines that remain fullest. A job that fits nowhere stays
/// unplaced. All tasks of a CPU-only job are placed on machines of one GPU type (or on CPU-only
/// machines, which are tried first).
///
/// @return feasible, ascending JobId
/// Roughly O(jobs x (log machines + domains)); a gang that fits in no rack costs O(racks) more.
model::Placement best_fit(const model::Instance& instance,
                          const planner_model::Valuation& valuation);

}  // namespace berth::test
