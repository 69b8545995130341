// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/model/workload.hpp"
#include "berth/policy/time.hpp"

namespace berth::sim {

/// What a job earns that ends then: its value (that of plans of one moment, at speed 1) times the
/// factor of its utility; 0 after its deadline.
[[nodiscard]] double value_at(const model::WorkloadView& workload, JobId job,
                              policy::Micros completion);

}  // namespace berth::sim
