// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/berth_policy.hpp"

#include "berth_preemptive.hpp"
#include "planned_starts.hpp"

namespace berth::sim {

std::unique_ptr<policy::Policy> make_berth(const BerthOptions& options, BerthCounts& counts) {
  if (!options.preemption) return std::make_unique<PlannedStarts>(options, counts);
  return std::make_unique<BerthPreemptive>(options, counts);
}

}  // namespace berth::sim
