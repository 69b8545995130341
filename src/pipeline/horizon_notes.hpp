// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"

namespace berth::pipeline {

/// What a plan in time cannot keep, and what it keeps more strictly than asked: running jobs that
/// end after a window of their machine begins, and pinned ones that end after its drain must be
/// over; soft quotas, and spare GPUs. The
/// first of each kind in full, the others counted. O((tasks + windows) log + machines of windows).
std::vector<std::string> horizon_notes(const model::InstanceView& instance,
                                       const model::Horizon& horizon);

}  // namespace berth::pipeline
