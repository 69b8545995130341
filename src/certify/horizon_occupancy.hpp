// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "findings.hpp"

#include <span>

#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"

namespace berth::certify {

/// Reports every use of a machine against its devices, resources, state and windows at any moment.
/// Pinned jobs and content outside the workload take their part until they end.
/// O(n log n + n x tasks at a time on a machine) for n tasks, contents and windows of machines.
void check_machines_over_time(const model::InstanceView& instance, const model::Horizon& horizon,
                              const model::Placement& placements,
                              std::span<const std::int64_t> ends, Findings& findings);

/// Reports jobs that start while their queue, or one that it is in, has no quota left for them, and
/// queues that take more GPU-hours within the horizon than their budget.
void check_queues_over_time(const model::InstanceView& instance, const model::Horizon& horizon,
                            const model::Placement& placements, std::span<const std::int64_t> ends,
                            Findings& findings);

/// Reports licenses of which running and planned jobs take more than there are at some moment at
/// which a planned job takes one. O(n log n)
void check_licenses_over_time(const model::InstanceView& instance, const model::Horizon& horizon,
                              const model::Placement& placements,
                              std::span<const std::int64_t> ends, Findings& findings);

/// Reports power budgets, uplinks and spare GPUs of racks and pods that running and planned jobs
/// exceed at some moment at which a planned job uses them. Spare GPUs are kept at every moment:
/// with machines that are closed they are no part of what jobs may use. O(n log n) for n tasks.
void check_places_over_time(const model::InstanceView& instance, const model::Horizon& horizon,
                            const model::Placement& placements, std::span<const std::int64_t> ends,
                            Findings& findings);

}  // namespace berth::certify
