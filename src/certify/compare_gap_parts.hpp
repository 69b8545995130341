// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/certify/check.hpp"
#include "berth/model/raw_plan.hpp"

namespace berth::certify {

/// Adds a fault for each part that differs from the recomputed one by more than 10^-9 of the upper
/// bound: the parts are sums of doubles, added in other orders on other numbers of ranks.
void compare_gap_parts(const model::RawGapParts& stated, CheckResult& checked);

}  // namespace berth::certify
