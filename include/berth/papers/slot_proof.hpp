// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/papers/gadget/ring_instance.hpp"
#include "berth/papers/pd_ors/slot_instance.hpp"
#include "berth/papers/smd/smd_schedule.hpp"

namespace berth::papers {

/// What the judge (certify::prove_slots) proves with these prices about every schedule of the
/// jobs. @param price  by slot, resource, >= 0
[[nodiscard]] double proved_utility(const pd_ors::SlotInstance& instance,
                                    std::span<const double> price);

/// The same of SMD's admissions: one slot, in which an admitted job holds what it reserves.
/// @param price  by resource, >= 0
[[nodiscard]] double proved_utility(const Knapsack& knapsack, std::span<const double> price);

/// What the judge (certify::prove_worker_slots) proves of GADGET's total utility.
/// @param price  of a GPU by slot, >= 0
[[nodiscard]] double proved_utility(const gadget::RingInstance& instance,
                                    std::span<const double> price);

}  // namespace berth::papers
