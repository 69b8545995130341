// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "berth/papers/knapsack.hpp"
#include "berth/papers/smd/smd_job.hpp"

namespace berth::papers::smd {

/// Jobs of one scheduling interval: max sum_i x_i u_i(E_i / f_i(p_i, w_i)) with
/// sum_i v_i^r x_i <= C^r and O^r w_i + G^r p_i <= v_i^r.
struct SmdInstance {
  std::vector<SmdJob> jobs = {};
  std::vector<double> capacity = {};  ///< C^r
  double time_unit = 1.0;             ///< seconds of a unit of the utilities' time
};

struct SmdSchedule {
  std::vector<Crew> crews = {};  ///< by job
  KnapsackChoice admitted = {};
};

/// The outer problem of given crews. As reservations count, not use, fastest crews and the best
/// admission solve the whole problem.
[[nodiscard]] Knapsack outer_knapsack(const SmdInstance& instance, std::span<const Crew> crews);

/// The judge: total utility of the admitted jobs.
/// @throws BrokenContract: a crew beyond its limit, limits beyond the capacity
[[nodiscard]] double total_utility(const SmdInstance& instance, const SmdSchedule& schedule);

/// All crews exact.
[[nodiscard]] std::vector<Crew> fastest_crews(const SmdInstance& instance);

struct SmdOptions {
  double epsilon = 0.05;                               ///< epsilon1 of Algorithm 1
  RoundingTries rounding = {.gain = 1.0, .most = 10};  ///< M_delta and F of Algorithm 2
};

/// Crews of Algorithms 1 and 2. @throws InputError: which option is out of which range
[[nodiscard]] std::vector<Crew> rounded_crews(const SmdInstance& instance,
                                              const SmdOptions& options);

/// No schedule has more: the relaxed knapsack of the fastest crews. @pre a PetscSession lives
[[nodiscard]] double utility_bound(const SmdInstance& instance);

/// @throws InputError: a job, time_unit or a capacity out of range, which and what
void check_instance(const SmdInstance& instance);

}  // namespace berth::papers::smd
