// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "berth/horizon/time.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"

namespace berth::pipeline {

/// True when the running job must leave its place: it is not pinned, and some machine that it is on
/// must be empty before it ends (docs/horizon.md). Such a job is planned as one that waits.
/// O(tasks log drains).
bool must_move(const model::InstanceView& instance, const model::Horizon& horizon, JobId job);

/// True when the job waits or must move: when and where it starts is to be planned.
bool is_planned(const model::InstanceView& instance, const model::Horizon& horizon, JobId job);

/// Seconds of the run after a move: what is left behind the last checkpoint, at the speed of the
/// new type, and the restart. Empty when the job cannot run on the type. @pre must_move
std::optional<horizon::Seconds> seconds_after_move(const model::InstanceView& instance,
                                                   const model::Horizon& horizon,
                                                   const model::Job& job, GpuTypeId type);

/// What a move costs more than a stop; negative when it costs less.
double cost_of_move(const model::InstanceView& instance, const model::Job& job);

}  // namespace berth::pipeline
