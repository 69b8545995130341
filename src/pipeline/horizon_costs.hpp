// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "berth/horizon/problem.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"

namespace berth::pipeline {

/// Seconds at another speed, rounded up; at least 1.
horizon::Seconds scaled(horizon::Seconds seconds, double speed);

/// Seconds of a run; empty when the job cannot run on the type.
/// @param elastic  its configuration, or null
std::optional<horizon::Seconds> duration_on(const model::InstanceView& instance,
                                            const model::Horizon& horizon, const model::Job& job,
                                            GpuTypeId type, const model::Configuration* elastic);

/// Costs by completion when the job is worth `value`.
std::vector<horizon::CostPiece> costs_of(const model::InstanceView& instance,
                                         const model::Horizon& horizon, const model::Job& job,
                                         double value, horizon::Seconds duration,
                                         horizon::Seconds release);

/// When the running job ends (docs/horizon.md).
std::int64_t running_until(const model::InstanceView& instance, const model::Horizon& horizon,
                           const model::Job& job);

}  // namespace berth::pipeline
