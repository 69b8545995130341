// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/value.hpp"

namespace berth::test {

/// The plain plan every other is measured against: jobs one by one in order of arrival (ties by
/// id), never looking ahead, never taking anything back.
///
/// A job tries what it may do in order of value: GPU type, width of the domain it lies in, distance
/// from home (ties: first type, narrower, nearer). Within one such choice it takes the domain with
/// the least free GPUs that holds it, and there the machines it leaves fullest. What fits nowhere
/// waits. All tasks of a CPU-only job lie on machines of one GPU type (or on CPU-only machines,
/// which are tried first).
///
/// @return feasible, ascending JobId
/// Roughly O(jobs x (log machines + domains)); a gang that fits in no rack costs O(racks) more.
model::Placement best_fit(const model::Instance& instance, const model::Valuation& valuation);

}  // namespace berth::test
