// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/run_record.hpp"
#include "berth/policy/policy.hpp"
#include "berth/sim/trace.hpp"
#include "berth/sim/world_speeds.hpp"

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
  bool complete = true;  ///< false: stopped early, and `checkpoint` goes on from there
  std::string checkpoint = {};
};

/// A time in which a machine is closed.
struct Closing {
  MachineId machine;
  Micros from = 0;
  Micros to = 0;  ///< > from
  policy::Outage outage = policy::Outage::failure;

  bool operator==(const Closing&) const = default;
};

/// What happens beside arrivals and completions, and how it is simulated.
struct World {
  Micros slot = 0;                      ///< decisions at multiples of it only; 0: at events
  std::vector<Closing> closings = {};   ///< in any order
  const WorldSpeeds* speeds = nullptr;  ///< null: a run has the speed of its GPU type
  Micros stop_at = kNever;              ///< the simulation ends before the first event after it
  StopToken stop = {};                  ///< asked at every decision
  std::string_view resume = {};         ///< a checkpoint of the same input; empty: from the begin
};

/// Where a simulation is, for a progress line.
struct SimulationProgress {
  Micros now = 0;
  std::int64_t arrived = 0, ended = 0, waiting = 0, running = 0;
};
using ProgressCall = std::function<void(const SimulationProgress&)>;

/// Replays the trace against the policy until every job has ended: at each moment first the
/// completions, by id, then machines that open and close, then the arrivals, then booked starts,
/// then one decision. The world runs on `trace.work` and the rates of `world.speeds`, which are
/// asked about the jobs that an event touches only.
///
/// Asserted at all times: no device has more than 1000 thousandths of tasks; what a policy promises
/// about jobs that fit (Policy::next, starts_all_that_fit); every job ends with exactly its work;
/// the sum of GPU-time over jobs is the integral of allocated GPUs.
///
/// Deterministic: a function of cluster, trace and policy. O(log running) an event, beside the
/// policy. @param progress  called every 65,536 decisions; may be empty
/// @throws InputError: a job that stands still for ever on its machines; a policy without
///         checkpoints when one is asked for; a checkpoint of another input
Run simulate(const model::Cluster& cluster, const Trace& trace, policy::Policy& policy,
             const ProgressCall& progress = {}, const World& world = {});

}  // namespace berth::sim
