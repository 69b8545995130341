// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "solve_horizon.hpp"

#include <string>

#include "berth/model/horizon_plan.hpp"
#include "berth/pipeline/checkpoint.hpp"
#include "berth/pipeline/plan_horizon.hpp"

namespace berth::pipeline {

/// What a plan in time is made from: the instance, the options that decide, and the promises.
std::string horizon_options(const HorizonRequest& request);

/// Writes the state after a pass and replaces an earlier file atomically. Format: the first line of
/// checkpoints, the state, 64 hexadecimal digits of the SHA-256 of all this. @throws SystemError
void write_horizon_checkpoint(const std::string& path, const CheckpointOrigin& origin,
                              const HorizonState& state);

/// @throws InputError naming the file: no checkpoint of a plan in time, of another build, damaged,
///         or made from other files or with other options
HorizonState read_horizon_checkpoint(const std::string& path, const CheckpointOrigin& origin);

}  // namespace berth::pipeline
