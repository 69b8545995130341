// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "berth/base/stop.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/coupling_limits.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::solver {

/// Options of jobs placed in order of arrival.
struct OnlineOptions {
  std::int64_t batch = 1;  ///< jobs decided together, > 0
  /// Expected demand of the batch and all later jobs, as a multiple of the free GPUs, >= 0. More
  /// demand refuses more jobs; 0: every job that fits is placed. Decision 8.
  double expect = 1.1;
  /// Total demand of all jobs as a multiple of all GPUs, if it is known; replaces `expect`. 0:
  /// unknown.
  double load = 0.0;
  bool take_all = false;  ///< every job that fits is placed, whatever is expected
  double gap = 1e-3;      ///< gap of the packing of a forecast, a fraction; chosen, not tuned
};

struct OnlineResult {
  model::Placement placed;            ///< ascending JobId
  int forecasts = 0;                  ///< number of packings of expected jobs
  std::int64_t used_reservation = 0;  ///< jobs placed on a reservation of their demand class
  std::int64_t refused = 0;  ///< jobs that fitted, but displaced expected jobs of larger value
};

/// Places jobs batch by batch in the given order. A job is placed with its batch or never, and a
/// placed job keeps its place. The decision on a batch depends on it and earlier batches only.
///
/// Re-solving heuristic (Jasin and Kumar 2012) with reservations by demand class (Topkis 1968).
/// The mix of the jobs that have arrived is expected to continue. From time to time the pattern LP
/// packs expected jobs of total demand `expect` on the unused machines (on all machines when a
/// twentieth of the GPUs is left). Each expected job is a reservation for the first job of its
/// demand class (shape, GPU types, speeds); a job takes the reservation on the machine with the
/// least free room. Without a reservation a job is placed where its value less that of the
/// displaced expected jobs is largest; if that is negative, the job is refused unless it is
/// required. Jobs of value 0 are placed on machines without free GPUs. Decision 8 has measurements.
///
/// @param kept    running jobs, which keep their places; part of the result
/// @param limits  of racks and pods, kept; reservations do not look at them. Null: there are none
/// @param stop    jobs that arrive after a stop are unplaced
/// @pre every job has one task and a value that depends on the GPU type only; jobs and `kept` are
///      distinct; a PetscSession exists
/// The result does not depend on the number of threads. O(jobs x machines) at worst, plus one
/// packing of the unused machines whenever the jobs seen have doubled or an eighth of the free room
/// is used.
OnlineResult place_online(const planner_model::Valuation& valuation, std::span<const JobId> jobs,
                          model::Placement kept, const OnlineOptions& options,
                          const planner_model::CouplingLimits* limits = nullptr,
                          const StopToken& stop = {});

}  // namespace berth::solver
