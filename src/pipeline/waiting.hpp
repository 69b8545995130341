// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/model/plan.hpp"

namespace berth::pipeline {

/// Every job that is not placed, ascending, with the reason in words: a GPU type no machine has, a
/// task no machine can hold, a gang larger than everything it may use, or the competition.
std::vector<model::Waiting> waiting(const model::Instance& instance, model::Objective objective,
                                    const model::Placement& placement);

}  // namespace berth::pipeline
