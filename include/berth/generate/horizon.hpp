// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "berth/horizon/plan.hpp"
#include "berth/horizon/problem.hpp"
#include "berth/model/instance.hpp"

namespace berth::generate {

/// Clusters and queues for plans in time.
enum class HorizonPreset : std::uint8_t {
  /// Philly's 2,490 GPUs: 1,848 fast, 642 slow; jobs from trace rows.
  philly,
  /// 32,768 GPUs in 8 pods of 4,096, six of them fast; sizes 1 .. 512 after Helios, durations
  /// lognormal with median one hour, cut at 7 days.
  big,
  /// The same jobs in 32 pods of 1,024.
  huge,
  /// One pool of 2,416 GPUs; jobs from trace rows, repeated, durations x 0.5 .. 2: gangs of 10 to
  /// 40 % of the cluster.
  kalos,
  /// 2,496 GPUs of one type, sizes 1 .. 256, durations lognormal with median 50 minutes
  /// (sigma 1.6),
  /// cut at 7 days: a day of such a queue asks for twice the cluster.
  queue,
};

enum class HorizonObjective : std::uint8_t {
  flow,            ///< sum of w (completion - release), all jobs required
  sigmoid,         ///< w n x a factor that falls along a sigmoid, as a table of 12 points
  value_in_hours,  ///< w n for every job that completes by the end of the horizon
};

/// One job of a trace.
struct TraceRow {
  horizon::Seconds duration = 0;
  horizon::Gpus gpus = 1;
};

struct HorizonOptions {
  std::size_t jobs = 10'000;
  std::uint64_t seed = 1;
  HorizonObjective objective = HorizonObjective::flow;
  horizon::Seconds horizon = 4 * 3600;  ///< of value_in_hours
  double load = 0.0;  ///< jobs arrive uniformly so that they ask for this share of the cluster; 0:
                      ///< all are pending at 0
  bool one_type = false;       ///< every GPU is fast
  bool equal_weights = false;  ///< weight 1; otherwise 1, 2, 4 or 8
  bool elastic = false;  ///< also n/4, n/2 and 2 n GPUs at 3.5, 1.85 and 0.56 times the duration
  bool outages = true;  ///< maintenance of 1/4 of the first pool 6 .. 10 h, a reservation of 1/8 20
                        ///< .. 26 h, 1/8 of each pool running for 1 .. 24 h
};

/// The slow type takes 1.2 to 2.5 times as long; 30 % of the jobs need the fast one. Gangs of 8 and
/// more GPUs are tasks of 8, smaller jobs one task.
/// @param rows  of philly and kalos, used in turn; not empty for these
horizon::Problem generate_horizon(HorizonPreset preset, const HorizonOptions& options,
                                  std::span<const TraceRow> rows = {});

/// The problem as files hold it: a pod per pool in racks of 16 machines, outages as maintenance,
/// GPU types "fast" and "slow". A job has the duration, tasks and arrival of its first option and
/// the speeds of the others; of an elastic job only the first configuration is kept, and costs are
/// kept as weights (flow, or value within a horizon), not as tables. O(machines + jobs).
/// @pre at most two price curves, every job has options
model::Instance instance_of(const horizon::Problem& problem);

/// A problem whose optimal flow of GPU time is known: the sheet GPUs x [0, length) is cut by
/// guillotine cuts into `jobs` rectangles; each is a job of 1-GPU tasks that is worth its area when
/// it completes by `length`.
struct ZeroWaste {
  horizon::Problem problem;  ///< to maximise: the optimum is minus the sheet's area (without the
                             ///< windows, which are cut out)
  horizon::Plan optimum;     ///< over pools
};

struct ZeroWasteOptions {
  std::int32_t gpus = 1024;
  horizon::Seconds length = 100'000;
  std::size_t jobs = 1'000;
  std::uint64_t seed = 1;
  double windows = 0.0;  ///< share of the pieces that are outages instead of jobs, 0 .. 0.5
};

/// Cuts the largest piece first, at a drawn place parallel to a drawn side. O(jobs log jobs).
/// @pre jobs <= gpus x length
ZeroWaste generate_zero_waste(const ZeroWasteOptions& options);

}  // namespace berth::generate
