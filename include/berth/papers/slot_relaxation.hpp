// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "berth/model/run_record.hpp"
#include "berth/papers/paper_policies.hpp"
#include "berth/papers/pd_ors/slot_instance.hpp"

/// The total utility of a simulation, and an instance in slots in which every schedule of the same
/// jobs can be copied, so that a bound of the instance is one of them all (certify::prove_slots).
namespace berth::papers {

/// Whether the policy is about total utility: PD-ORS, OASiS, SMD and its baselines.
[[nodiscard]] bool earns_utility(std::string_view policy);

/// What the finished jobs earned: value x factor at their ends, 0 after a deadline.
[[nodiscard]] double earned_utility(const PaperWorld& world,
                                    std::span<const model::JobRecord> records);

struct SlotRelaxation {
  pd_ors::SlotInstance instance;  ///< jobs by arrival
  std::vector<double> price;      ///< by slot, resource, of a low bound
};

/// Jobs with their work, in at most 24 slots of whole seconds until the last run ended. A
/// completion earns what it would at the begin of its slot, an arrival counts from the begin of its
/// slot, restarts cost nothing. Of SMD and its baselines a job holds what it reserves and is as
/// fast as with its fastest crew; of the others it may have any workers up to its largest crew,
/// with as few servers for each as any crew. Schedules that end later are not in it.
/// @pre earns_utility(policy), the policy was made for this world, some job finished; a
/// PetscSession
///      lives  O(rounds of pooled_prices)
[[nodiscard]] SlotRelaxation slot_relaxation(std::string_view policy, const PaperWorld& world,
                                             std::span<const model::JobRecord> records);

}  // namespace berth::papers
