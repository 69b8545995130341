// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "berth/model/cluster.hpp"
#include "berth/model/run_record.hpp"
#include "berth/policy/policy.hpp"
#include "berth/sim/trace.hpp"

namespace berth::sim {

/// Averages over one interval of the simulated time.
struct SeriesPoint {
  Micros from = 0;
  double gpus = 0.0;     ///< allocated
  double running = 0.0;  ///< jobs
  double waiting = 0.0;  ///< jobs
};

struct Run {
  std::vector<model::JobRecord> records;  ///< by JobId
  std::vector<SeriesPoint> series;        ///< at most kMostPoints, of one length
  Micros interval = 0;                    ///< of a point of the series
  std::int64_t job_events = 0;            ///< arrivals, starts, stops and completions
  std::int64_t decisions = 0;
};

/// Where a simulation is, for a progress line.
struct SimulationProgress {
  Micros now = 0;
  std::int64_t arrived = 0, ended = 0, waiting = 0, running = 0;
};
using ProgressCall = std::function<void(const SimulationProgress&)>;

/// Replays the trace against the policy until every job has ended: at each moment first the
/// completions, by id, then the arrivals, then one decision. The world runs on `trace.work`.
///
/// Asserted at all times: no device has more than 1000 thousandths of tasks; what a policy promises
/// about jobs that fit (Policy::next, starts_all_that_fit); every job ends with exactly its work;
/// the sum of GPU-time over jobs is the integral of allocated GPUs.
///
/// Deterministic: a function of cluster, trace and policy. O(log running) an event, beside the
/// policy. @param progress  called every 65,536 decisions; may be empty
Run simulate(const model::Cluster& cluster, const Trace& trace, policy::Policy& policy,
             const ProgressCall& progress = {});

}  // namespace berth::sim
