// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shard/eviction_costs.hpp"
#include "shard/tenancy.hpp"

#include <vector>

namespace berth::solver {

/// A way to bring one job in: where, and which jobs must go. gain <= 0: there is none.
struct Insertion {
  double gain = 0.0;                ///< value of the job minus value of the victims
  std::vector<MachineId> machines;  ///< candidates for all its tasks
  std::vector<JobId> victims;       ///< distinct
};

/// The best insertion on the present content, looking at every domain of the shard: in each, the
/// machines where room for one more task costs least, victims of a machine in order of value per
/// GPU. Required jobs are never victims. Jobs with several task groups only go into idle room.
/// Reads only. O(machines x jobs per machine) per allowed GPU type and level.
/// @param costs  of the same content, or null: domains that cannot do better are passed over; the
///               result is the same
Insertion find_insertion(const Tenancy& tenancy, JobId job, const EvictionCosts* costs = nullptr);

/// What an applied insertion changed.
struct Applied {
  double gain = 0.0;              ///< value added; 0 when nothing was changed
  std::vector<JobId> pushed_out;  ///< victims that found no other place
};

/// Carries the insertion out, puts victims back into idle room (most valuable first), and undoes
/// everything when less than `at_least` is gained.
Applied apply_insertion(Tenancy& tenancy, JobId job, const Insertion& insertion, double at_least);

/// Places the job into idle room at the best value, or returns false.
bool place_idle(Tenancy& tenancy, JobId job);

}  // namespace berth::solver
