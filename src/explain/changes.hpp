// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trials.hpp"

#include <vector>

#include "berth/explain/explain.hpp"

namespace berth::explain {

/// The changes of which each alone lets the job into the plan, in the order of ChangeKind; only
/// `none` when it fits as it is. @pre the job is neither placed nor pinned
std::vector<Change> changes(Trials& trials, JobId job);

}  // namespace berth::explain
