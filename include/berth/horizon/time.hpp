// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Horizon plans: when a job starts, and where. docs/horizon.md has the model and the proof.
namespace berth::horizon {

using Seconds = std::int64_t;  ///< whole seconds, a time or a span
using Gpus = std::int64_t;     ///< whole GPUs

/// Later than every time of a problem; sums of a thousand such spans stay within int64.
inline constexpr Seconds kNever = Seconds{1} << 50;

}  // namespace berth::horizon
