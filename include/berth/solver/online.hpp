// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "berth/base/stop.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::solver {

/// How jobs are placed while they arrive.
struct OnlineOptions {
  std::int64_t batch = 1;  ///< jobs that are looked at together, > 0
  /// What the jobs of a batch and all later ones are expected to ask for, as a multiple of the GPUs
  /// that are free, >= 0: the more, the choosier. 0 = nothing: every job that fits is placed.
  double expect = 1.1;
  /// What all jobs together ask for, as a multiple of all GPUs, when that much is known beforehand;
  /// used instead of `expect`. 0 = not known.
  double load = 0.0;
  bool take_all = false;  ///< a job that fits is placed, whatever is expected
  double gap = 1e-3;      ///< to which a forecast is packed, a fraction
};

struct OnlineResult {
  model::Placement placed;            ///< ascending JobId
  int forecasts = 0;                  ///< times the expected jobs were packed
  std::int64_t used_reservation = 0;  ///< jobs placed on the reservation of their demand class
  std::int64_t refused = 0;  ///< jobs that fitted, but where others worth more were expected
};

/// Places jobs batch by batch in the order given. A job is placed when its batch comes, or never;
/// once placed it stays. What is decided about a batch depends on it and the ones before alone.
///
/// Re-solving heuristic (Jasin and Kumar 2012) with reservations by demand class (Topkis 1968).
/// The mix of all jobs that have arrived is expected to continue. From time to time the pattern
/// relaxation packs as many expected jobs as `expect` says on the machines that are still as they
/// were (on all, when a twentieth of the GPUs is left); each reserves its place for the first job
/// of its demand class (shape, GPU types, speeds), on the machine with the least free room. Where
/// no such place is left, a job goes where it is worth most beyond the expected jobs that lose
/// their place to it; when that is negative it is refused, unless it is required. Jobs worth
/// nothing run beside GPUs that are all taken.
///
/// @param kept  running jobs, which stay where they are; part of the result
/// @pre every job has one task and no home that matters; jobs and `kept` are distinct; a
///      PetscSession lives
/// @param stop  the jobs that have not arrived by then wait
/// Same result for any number of threads. O(jobs x machines) at worst, and a packing of the
/// untouched machines whenever the jobs seen have doubled or an eighth of the free room is gone.
OnlineResult place_online(const planner_model::Valuation& valuation, std::span<const JobId> jobs,
                          model::Placement kept, const OnlineOptions& options,
                          const StopToken& stop = {});

}  // namespace berth::solver
