// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/model/instance.hpp"
#include "berth/sim/trace.hpp"

namespace berth::sim {

/// GPU-time of the jobs that run, alone on their fastest types, over that of the cluster between
/// the first and the last of their arrivals. 0: they arrive at one moment.
double offered_load(const model::Cluster& cluster, const Trace& trace);

/// Stretches the time between arrivals by this factor: an arrival a becomes first + (a - first) x
/// factor, rounded to seconds; not_before and deadline of a job move as its arrival does.
/// @pre factor > 0  O(jobs)
void stretch_arrivals(model::Workload& workload, double factor);

}  // namespace berth::sim
