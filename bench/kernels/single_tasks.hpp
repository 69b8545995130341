// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/model/instance.hpp"

namespace berth::bench {

/// Machines of 8 GPUs of two types, and single-task jobs of 60 kinds, half of them shares, with a
/// load of 130 % of the GPUs and without homes: the workload for which the pattern LP is made.
model::Instance single_task_instance(std::int64_t machines);

}  // namespace berth::bench
