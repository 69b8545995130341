// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/model/instance.hpp"

namespace berth::bench {

/// Machines of 8 GPUs of two types, and single-task jobs of 60 kinds, half of them shares, asking
/// for 130 % of the GPUs; no place is better than another. What `pack` is for.
model::Instance single_task_instance(std::int64_t machines);

}  // namespace berth::bench
